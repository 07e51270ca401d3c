"""`midwatch attach`: bring the person at this terminal to the session of an agent."""

from __future__ import annotations

import os
import shlex

from midwatch.cli import context, output, pane_arguments
from midwatch.cli.parser import Options
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.foreign_text import ForeignText
from midwatch.core.json_text import dump
from midwatch.core.names import is_pane
from midwatch.core.verdict_json import SCHEMA
from midwatch.tmux import attachment
from midwatch.tmux.attachment import AttachTarget


def main(options: Options) -> int:
    if len(options.names) != 1:
        raise UsageError("attach needs one session: its name, =SESSION or %PANE; `midwatch ls` lists the names")
    name = options.names[0]
    is_foreign = is_pane(name) or name.startswith("=")
    target = _find_foreign(options, name) if is_foreign else _find_ours(options)
    if target is None:
        return EXIT_CODES["not_found"]
    if options.flag("--json"):
        print(dump(_describe(name, target)))
        return 0
    if not (os.isatty(0) and os.isatty(1)):
        return _print_command(target)
    if not attachment.is_inside():
        attachment.attach_here(target)
    if not attachment.is_inside(target.server):
        output.print_remark("this terminal shows another tmux server; leave it (prefix d), then run:")
        return _print_command(target)
    if attachment.switch_here(target):
        return 0
    output.print_remark("no tmux client shows this pane, so none can be switched; run in a terminal:")
    return _print_command(target)


def _find_foreign(options: Options, name: str) -> AttachTarget | None:
    server = pane_arguments.server_arguments(options)
    found = (
        attachment.find_pane(server, name) if is_pane(name) else attachment.find_session(server, name.removeprefix("="))
    )
    if found is None:
        what = f"pane {name}" if is_pane(name) else f"session {name.removeprefix('=')!r}"
        output.print_remark(f"there is no {what} on that tmux server; `midwatch ls --panes --all` lists agents")
    return found


def _find_ours(options: Options) -> AttachTarget | None:
    """The session of ours, if its pane is still the one that was recorded."""
    looker, [name] = context.job_observer(options), context.job_names(options)
    facts, verdict = looker.observe(name)
    if verdict.state == "not_found":
        output.print_remark(f"there is no session {name!r} here; `midwatch attach ={name}` means the tmux session")
        return None
    pane = facts.record.pane if facts.record else None
    if pane is None:
        raise RefusedError(f"{name} is a job, not a session; `midwatch logs -f {name}` follows what it prints")
    found = attachment.find_pane(pane.server, pane.id)
    if found is None or (pane.life and found.life != pane.life):
        again = f"`midwatch resume {name}` starts its agent again, `midwatch logs {name}` shows what it printed"
        output.print_remark(f"the tmux pane of {name} is gone; {again}")
        return None
    return found._replace(pane="")


def _describe(name: str, target: AttachTarget) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "name": name,
        "server": list(target.server),
        "session": ForeignText(target.session),
        "pane": target.pane or None,
        "command": attachment.person_command(target),
    }


def _print_command(target: AttachTarget) -> int:
    print(shlex.join(attachment.person_command(target)))
    return 0
