"""`midwatch handoff`: a worker's report goes to mail, and a ping to the controller once it is ready for it."""

from __future__ import annotations

import os
import time

from midwatch.cli import context, output
from midwatch.cli.commands import mail as letters
from midwatch.cli.commands import send
from midwatch.cli.parser import Options
from midwatch.config.model import Settings
from midwatch.core.errors import FormatError, RefusedError, UsageError
from midwatch.core.json_text import dump
from midwatch.core.text import visible
from midwatch.mail import store as mail_store
from midwatch.mail.model import CONTROLLER
from midwatch.sessions.prompting.model import PromptOutcome, PromptResult
from midwatch.sessions.prompting.send import send_prompt
from midwatch.swarm import handoff
from midwatch.swarm.codec import assignment_text
from midwatch.system.end_signals import CommandSignals
from midwatch.tmux import client as tmux_client
from midwatch.tmux import pane_location
from midwatch.tmux.pane_location import PaneLocation

SCHEMA = 1
WAIT = 60.0
"""Seconds for the controller to come to its prompt."""
NOBODY = "no_controller"


def main(options: Options) -> int:
    if options.names:
        raise UsageError("handoff takes no names: midwatch handoff --task ID --status 'done' --report FILE")
    task, status = (
        assignment_text.check_task(options.text("--task") or ""),
        assignment_text.clean_status(options.text("--status") or ""),
    )
    path, wait = options.text("--report"), options.seconds("--wait")
    report = status if path is None else letters.read_text("--report", path)
    where = pane_location.own_location()
    who = where.name if where else pane_location.name_outside()
    filed = mail_store.send_mail(
        mail_store.mail_directory(os.getcwd(), options.text("--dir")), sender=who,
        to=options.text("--to") or CONTROLLER,
        subject=f"{task}: {status}", text=report, task=task,
    )  # fmt: skip
    if not options.flag("--json"):
        print(f"{filed.id}: report on {visible(task)} sent to {filed.to.line()}", flush=True)
    found = handoff.find_controller(_find_location(options, where), options.text("--controller"))
    sent = PromptResult(NOBODY, found.trouble)
    if found.target:
        sent = _send_ping(
            options, where, found.target, assignment_text.format_ping(who, task, status), WAIT if wait is None else wait
        )
    if options.flag("--json"):
        print(dump({
            "schema": SCHEMA, "task": task, "status": status, "from": who, "to": filed.to, "mail": filed.id,
            "controller": found.target or None, "ping": sent.outcome, "reason": sent.reason,
        }, spaced=True))  # fmt: skip
    if not sent.delivered:
        how = "sent, perhaps" if sent.submitted else "not delivered"
        output.print_remark(
            f"the ping was {how}: {sent.reason}. The report is in the mail, where the controller finds it;"
            " nothing more is to be done"
        )
    elif not options.flag("--json"):
        print(visible(f"{found.target}: pinged: {sent.reason}"))
    return 130 if sent.outcome == PromptOutcome.INTERRUPTED else 0


def _find_location(options: Options, where: PaneLocation | None) -> PaneLocation | None:
    """Where to look for a controller: not on our own server when another is meant."""
    name, path = options.text("-L"), options.text("-S")
    meant = ("-S", path) if path else ("-L", name) if name else ()
    return where if where is not None and _is_same(meant, where) else None


def _is_same(server: tuple[str, ...], where: PaneLocation) -> bool:
    return os.path.realpath(tmux_client.socket_path(server)) == os.path.realpath(where.socket)


def _send_ping(options: Options, where: PaneLocation | None, target: str, ping: str, wait: float) -> PromptResult:
    asked = CommandSignals()
    try:
        there = send.find_pane(options, target)
        if where is not None and where.own.pane == there.id and _is_same(there.pane.server, where):
            return PromptResult(PromptOutcome.REFUSED, f"{target} is the pane that this comes from")
        until, via = time.monotonic() + wait, send.delivery_method(_load_settings(options))
        with asked:
            sent = send_prompt(there.panes, there.id, ping, until=until, stopped=asked.was_asked, alone=True, via=via)
        there.close()
    except (RefusedError, UsageError) as error:
        return PromptResult(PromptOutcome.REFUSED, str(error))
    return sent


def _load_settings(options: Options) -> Settings:
    """A broken file must not keep a worker from telling that it is done."""
    try:
        return context.read_settings(options)
    except (FormatError, UsageError) as error:
        output.print_warning(f"{error}; until then the settings files do not count")
        return Settings()
