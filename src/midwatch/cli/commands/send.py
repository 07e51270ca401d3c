"""`midwatch send`: a prompt for an agent in a pane, typed only where nobody minds, and proven to have arrived."""

from __future__ import annotations

import os
import time

from midwatch.cli import output, pane_arguments
from midwatch.cli.commands import send_assignment
from midwatch.cli.commands import send_undelivered as listing
from midwatch.cli.output import print_warning
from midwatch.cli.parser import Options
from midwatch.config import load, paths, trust
from midwatch.config.model import WAYS, Settings
from midwatch.core import names, prompt_text
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.json_text import dump
from midwatch.core.names import is_pane
from midwatch.core.pane_model import Pane
from midwatch.core.text import visible
from midwatch.sessions import find_agent
from midwatch.sessions.find_agent import FoundAgent, NoAgentError
from midwatch.sessions.prompting import undelivered_store
from midwatch.sessions.prompting.codec import text as sessions_text
from midwatch.sessions.prompting.model import PromptOutcome, PromptResult
from midwatch.sessions.prompting.send import send_prompt
from midwatch.sessions.prompting.undelivered_store import UndeliveredPrompt
from midwatch.system.end_signals import CommandSignals
from midwatch.tmux import client as tmux_client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

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
    again = undelivered_store.find_note(options.text("--again") or "") if options.flag("--again") else None
    target, text = _parse_again(options, again) if again else _parse_text(options)
    until = time.monotonic() + (options.seconds("--wait") or 0.0)
    via = options.choice("--via", WAYS) or delivery_method(load.load(paths.project_root(os.getcwd())))
    began = time.monotonic()
    asked = CommandSignals()
    pane = note = None
    try:
        there = find_pane(options, target, again)
        pane = there.id
        text = send_assignment.append_report_lines(options, there, text)
        with asked:
            sent = send_prompt(there.panes, pane, text, until=until, stopped=asked.was_asked, via=via)
        there.close()
        if again or is_undelivered(sent, waited=options.flag("--wait")):
            note = update_notes(there.pane, target, text, sent, again)
    except RefusedError as error:
        sent = PromptResult(
            PromptOutcome.EXITED if isinstance(error, NoAgentError) else PromptOutcome.REFUSED, str(error)
        )
    if options.flag("--json"):
        print(_format_json(target, pane, sent, time.monotonic() - began, note), flush=True)
    else:
        _print_result(target, sent, note)
    return CODES.get(sent.outcome, NOT_TAKEN if sent.typed else EXIT_CODES["unknown"])


def _parse_text(options: Options) -> tuple[str, str]:
    path = options.text("--file")
    if not options.names or len(options.names) != (1 if path is not None else 2):
        raise UsageError("send needs a target and one text in quotes (or --file): midwatch send %3 'go on'")
    text = options.names[1] if path is None else read_prompt("--file", path)
    return options.names[0], sessions_text.clean_prompt(drop_hidden_characters(options, text))


def drop_hidden_characters(options: Options, text: str) -> str:
    """A person's words without what no reader sees: they may come from a page that hides something there."""
    if options.flag("--verbatim"):
        return text
    found, dropped = prompt_text.remove_hidden(text.removeprefix("\ufeff"))  # which some editors begin files with
    if dropped:
        what = "1 invisible character was" if dropped == 1 else f"{dropped} invisible characters were"
        output.print_remark(f"{what} dropped from the text; --verbatim keeps all")
    return found


def delivery_method(found: Settings) -> str:
    """How prompts get into a pane. A project's file that is not trusted does not say so."""
    via, problem = trust.trusted_value(found, "send_via")
    if problem:
        print_warning(f"{problem}; until then its [send] via does not count")
    return str(via)


def _parse_again(options: Options, note: UndeliveredPrompt) -> tuple[str, str]:
    """The same text for the same pane, unless another is named now."""
    if len(options.names) > 1 or options.flag("--file") or options.flag("--task"):
        raise UsageError("send --again takes a note, and perhaps another target; its text is that of the note")
    return options.names[0] if options.names else note.target, note.text


def read_prompt(flag: str, path: str) -> str:
    """What a flag's file holds (- is standard input), as far as anybody would type it."""
    try:
        with open(0 if path == "-" else path, "rb", closefd=path != "-") as file:
            return file.read(8 * sessions_text.LARGEST).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"{flag} {path}: {error.strerror}") from error


# Which pane ---------------------------------------------------------------------------------------------------------


def find_pane(options: Options, target: str, again: UndeliveredPrompt | None = None) -> FoundAgent:
    """The pane that a target means: %pane, =session, or a name of ours. RefusedError where no agent is in it."""
    if not is_pane(target) and not target.startswith("="):
        return find_agent.find_agent_of_session(
            paths.sentinel_directory(options.text("--dir")), names.check_name(target)
        )
    same = again if again and not options.names else None
    server = ("-S", same.socket) if same else pane_arguments.server_arguments(options)
    there = find_agent.find_agent(server, target)
    if same and target == same.pane and there.pane.pid != same.pid:
        raise RefusedError(f"{target} is another pane than it was; name one: midwatch send --again {same.id} TARGET")
    return there


# What became of it --------------------------------------------------------------------------------------------------


def is_undelivered(sent: PromptResult, *, waited: bool) -> bool:
    """Whether somebody should hear of it later: something was typed, or waited for, in vain."""
    if sent.submitted or (sent.outcome == PromptOutcome.INTERRUPTED and not sent.left):
        return False
    return sent.typed or waited


def update_notes(
    there: Pane, target: str, text: str, sent: PromptResult, again: UndeliveredPrompt | None,
    say: Callable[[str], None] = print_warning,
) -> UndeliveredPrompt | None:  # fmt: skip
    """What is left of a prompt that did not arrive, or not for sure; nothing of one that did."""
    note, text = None, sessions_text.clean_prompt(text)
    try:
        if not sent.delivered:
            note = undelivered_store.write_note(
                tmux_client.socket_path(there.server), there.id, text, sent.reason, target=target, left=sent.left,
                pid=there.pid,
            )  # fmt: skip
        if again and (note is None or note.id != again.id):
            undelivered_store.drop_note(again.id)
    except RefusedError as error:
        say(str(error))
    return note


def _format_json(
    target: str, pane: str | None, sent: PromptResult, elapsed: float, note: UndeliveredPrompt | None
) -> str:
    found = {
        "schema": SCHEMA, "target": target, "pane": pane, "agent": sent.agent or None, "outcome": sent.outcome,
        "detail": sent.detail or None, "delivered": sent.delivered, "submitted": sent.submitted,
        "proof": sent.proof or None, "typed": sent.typed, "left": sent.left, "reason": sent.reason,
        "elapsed_s": round(elapsed, 3), "note": note.id if note else None,
    }  # fmt: skip
    return dump(found)


def _print_result(target: str, sent: PromptResult, note: UndeliveredPrompt | None) -> None:
    if sent.delivered:
        print(visible(f"{target}: delivered: {sent.reason}"))
        return
    what = "sent, perhaps" if sent.submitted else "not delivered" if sent.typed else "nothing was typed"
    output.print_remark(f"{target}: {what}: {sent.reason}")
    if note:
        output.print_remark(f"it is kept: `midwatch send --again {note.id}` tries again")
