"""`midwatch send`: a prompt for an agent in a pane, typed only where nobody minds, and proven to have arrived."""

from __future__ import annotations

import os
import time

from midwatch.agents import catalog
from midwatch.cli import output
from midwatch.cli import pane_arguments as watched
from midwatch.cli.commands import send_assignment
from midwatch.cli.commands import send_undelivered as listing
from midwatch.cli.output import warn
from midwatch.cli.parser import Options
from midwatch.config import load, paths, sentinel_files, trust
from midwatch.config.model import WAYS, Settings
from midwatch.core import names, prompt_text
from midwatch.core.errors import FormatError, RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.job_model import Record
from midwatch.core.json_text import dump
from midwatch.core.pane_model import Pane
from midwatch.core.text import visible
from midwatch.jobs.codec import sentinel
from midwatch.sessions.agent_session import is_its
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import undelivered_store
from midwatch.sessions.prompting.codec import text as sessions_text
from midwatch.sessions.prompting.model import PromptOutcome, PromptResult
from midwatch.sessions.prompting.send import deliver
from midwatch.sessions.prompting.undelivered_store import UndeliveredPrompt
from midwatch.system.end_signals import CommandSignals
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec.commands import is_pane

SCHEMA = 1
NOT_TAKEN = 1
CODES = {
    PromptOutcome.DELIVERED: 0, PromptOutcome.INTERRUPTED: 130, PromptOutcome.UNPROVEN: EXIT_CODES["incomplete"],
    PromptOutcome.EXITED: EXIT_CODES["not_found"], PromptOutcome.WAITING: EXIT_CODES["waiting"],
    PromptOutcome.LIMITED: EXIT_CODES["limited"],
}  # fmt: skip
"""Of outcomes; of all others NOT_TAKEN if something was typed, else that of `unknown`."""


def main(options: Options) -> int:
    if options.flag("--undelivered") or options.flag("--drop"):
        return listing.main(options)
    again = undelivered_store.get(options.text("--again") or "") if options.flag("--again") else None
    target, text = _asked_again(options, again) if again else _asked(options)
    until = time.monotonic() + (options.seconds("--wait") or 0.0)
    via = options.choice("--via", WAYS) or way(load.load(paths.project(os.getcwd())))
    began = time.monotonic()
    asked = CommandSignals()
    pane = note = None
    try:
        panes, there = found(options, target, again)
        pane = there.id
        text = send_assignment.with_lines(options, panes, pane, text)
        with asked:
            sent = deliver(panes, pane, text, until=until, stopped=asked.heard, via=via)
        panes.close()
        if again or _is_missed(sent, waited=options.flag("--wait")):
            note = _noted(there, target, text, sent, again)
    except RefusedError as error:
        sent = PromptResult(
            PromptOutcome.EXITED if isinstance(error, watched.NoAgentError) else PromptOutcome.REFUSED, str(error)
        )
    if options.flag("--json"):
        print(_json(target, pane, sent, time.monotonic() - began, note), flush=True)
    else:
        _say(target, sent, note)
    return CODES.get(sent.outcome, NOT_TAKEN if sent.typed else EXIT_CODES["unknown"])


def _asked(options: Options) -> tuple[str, str]:
    path = options.text("--file")
    if not options.names or len(options.names) != (1 if path is not None else 2):
        raise UsageError("send needs a target and one text in quotes (or --file): midwatch send %3 'go on'")
    text = options.names[1] if path is None else read_text("--file", path)
    return options.names[0], sessions_text.clean(without_hidden(options, text))


def without_hidden(options: Options, text: str) -> str:
    """A person's words without what no reader sees: they may come from a page that hides something there."""
    if options.flag("--verbatim"):
        return text
    found, dropped = prompt_text.without_hidden(text.removeprefix("\ufeff"))  # which some editors begin files with
    if dropped:
        what = "1 invisible character was" if dropped == 1 else f"{dropped} invisible characters were"
        output.remark(f"{what} dropped from the text; --verbatim keeps all")
    return found


def way(found: Settings) -> str:
    """How prompts get into a pane. A project's file that is not trusted does not say so."""
    via, problem = trust.value(found, "send_via")
    if problem:
        warn(f"{problem}; until then its [send] via does not count")
    return str(via)


def _asked_again(options: Options, note: UndeliveredPrompt) -> tuple[str, str]:
    """The same text for the same pane, unless another is named now."""
    if len(options.names) > 1 or options.flag("--file") or options.flag("--task"):
        raise UsageError("send --again takes a note, and perhaps another target; its text is that of the note")
    return options.names[0] if options.names else note.target, note.text


def read_text(flag: str, path: str) -> str:
    """What a flag's file holds (- is standard input), as far as anybody would type it."""
    try:
        with open(0 if path == "-" else path, "rb", closefd=path != "-") as file:
            return file.read(8 * sessions_text.LARGEST).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"{flag} {path}: {error.strerror}") from error


# Which pane ---------------------------------------------------------------------------------------------------------


def found(options: Options, target: str, again: UndeliveredPrompt | None = None) -> tuple[PaneObserver, Pane]:
    """The pane that a target means: %pane, =session, or a name of ours. RefusedError where no agent is in it."""
    if is_pane(target) or target.startswith("="):
        panes = watched.watchers(options)[0]
        if again and not options.names:
            panes = PaneObserver(panes.detectors, paths.hook_spool(), ("-S", again.socket))
        pane = watched.agent_of(panes, target).sighting.pane
        if again and target == again.pane and pane.pid != again.pid and not options.names:
            raise RefusedError(
                f"{target} is another pane than it was; name one: midwatch send --again {again.id} TARGET"
            )
        return panes, pane
    record = _recorded(paths.directory(options.text("--dir")), names.check(target))
    if record.pane is None:
        raise RefusedError(f"{target} is a job without a pane; nothing can be typed there")
    panes = PaneObserver(catalog.load_all(), paths.hook_spool(), record.pane.server)
    looked = panes.look(record.pane.id)
    if looked.trouble:
        raise RefusedError(looked.trouble)
    its = next((seen.sighting.pane for seen in looked.seen if is_its(record, seen)), None)
    if its is None:
        raise watched.NoAgentError(
            f"the agent of {target} is not in its pane any more; `midwatch why {target}` tells more"
        )
    return panes, its


def _recorded(directory: str, name: str) -> Record:
    if others := paths.shared_with_others(directory):
        raise RefusedError(f"{others}; nothing is typed where such a directory says")
    try:
        text = sentinel_files.read(f"{directory}/{name}.json")
        if text is None:
            raise watched.NoAgentError(f"no session is called {name!r} here; `midwatch ls` lists them")
        return sentinel.record(text)
    except FormatError as error:
        raise RefusedError(f"{name}: {error}") from error


# What became of it --------------------------------------------------------------------------------------------------


def _is_missed(sent: PromptResult, *, waited: bool) -> bool:
    """Whether somebody should hear of it later: something was typed, or waited for, in vain."""
    if sent.submitted or (sent.outcome == PromptOutcome.INTERRUPTED and not sent.left):
        return False
    return sent.typed or waited


def _noted(
    there: Pane, target: str, text: str, sent: PromptResult, again: UndeliveredPrompt | None
) -> UndeliveredPrompt | None:
    """What is left of a prompt that did not arrive, or not for sure; nothing of one that did."""
    note, text = None, sessions_text.clean(text)
    try:
        if not sent.delivered:
            note = undelivered_store.leave(
                tmux_client.socket_path(there.server), there.id, text, sent.reason, target=target, left=sent.left,
                pid=there.pid,
            )  # fmt: skip
        if again and (note is None or note.id != again.id):
            undelivered_store.drop(again.id)
    except RefusedError as error:
        output.warn(str(error))
    return note


def _json(target: str, pane: str | None, sent: PromptResult, elapsed: float, note: UndeliveredPrompt | None) -> str:
    found = {
        "schema": SCHEMA, "target": target, "pane": pane, "agent": sent.agent or None, "outcome": sent.outcome,
        "detail": sent.detail or None, "delivered": sent.delivered, "submitted": sent.submitted,
        "proof": sent.proof or None, "typed": sent.typed, "left": sent.left, "reason": sent.reason,
        "elapsed_s": round(elapsed, 3), "note": note.id if note else None,
    }  # fmt: skip
    return dump(found)


def _say(target: str, sent: PromptResult, note: UndeliveredPrompt | None) -> None:
    if sent.delivered:
        print(visible(f"{target}: delivered: {sent.reason}"))
        return
    what = "sent, perhaps" if sent.submitted else "not delivered" if sent.typed else "nothing was typed"
    output.remark(f"{target}: {what}: {sent.reason}")
    if note:
        output.remark(f"it is kept: `midwatch send --again {note.id}` tries again")
