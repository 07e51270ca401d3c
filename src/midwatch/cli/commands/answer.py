"""`midwatch answer`: the open dialog of a session with its choices; with a number, select that one."""

from __future__ import annotations

import sys

from midwatch.cli import output
from midwatch.cli.commands import send
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.json_text import dump
from midwatch.core.numbers import parse_whole_number
from midwatch.core.text import visible
from midwatch.sessions.dialogs import answer_target
from midwatch.sessions.dialogs.answer import DialogAnswer
from midwatch.sessions.dialogs.answer_target import AnswerTarget
from midwatch.sessions.dialogs.caller import find_caller
from midwatch.sessions.dialogs.model import AnswerOutcome, AnswerResult, Choice, OpenDialog
from midwatch.sessions.find_agent import NoAgentError
from midwatch.sessions.prompting.codec import text as sessions_text
from midwatch.system.end_signals import CommandSignals

SCHEMA = 1
LONGEST_TEXT = 2000
CODES = {
    AnswerOutcome.ANSWERED: 0, AnswerOutcome.STILL_OPEN: EXIT_CODES["waiting"],
    AnswerOutcome.UNPROVEN: EXIT_CODES["incomplete"], AnswerOutcome.EXITED: EXIT_CODES["not_found"],
    AnswerOutcome.INTERRUPTED: 130,
}  # fmt: skip
"""Of outcomes; of all others that of `unknown`."""
YES = ("y", "yes")


def main(options: Options) -> int:
    target, number, text = _parse_words(options)
    asked = CommandSignals()
    try:
        there = send.find_pane(options, target)
    except RefusedError as error:
        nobody = isinstance(error, NoAgentError)
        return _finish(
            options, target, "", AnswerResult(AnswerOutcome.EXITED if nobody else AnswerOutcome.REFUSED, str(error))
        )
    try:
        meant = answer_target.find_target(there, target, paths.sentinel_directory(options.text("--dir")))
        answering = DialogAnswer(there, asked.was_asked)
        with asked:
            if number is None and text is None:
                return _show_dialog(options, target, meant, answering)
            return _answer(options, target, meant, answering, (number, text))
    finally:
        there.close()


def _parse_words(options: Options) -> tuple[str, int | None, str | None]:
    if not 1 <= len(options.names) <= 2:  # noqa: PLR2004  # a session, and perhaps a choice
        raise UsageError("answer needs a session, and the number of a choice to select it: midwatch answer api 1")
    number = None
    if len(options.names) > 1:
        number = parse_whole_number(options.names[1])
        if not number:
            raise UsageError(f"a choice is named by its number, not {options.names[1]!r}; `answer NAME` lists them")
    text = options.text("--text")
    if text is not None:
        text = check_text(send.drop_hidden_characters(options, text), "--text")
    if options.text("--dialog") is not None and number is None and text is None:
        raise UsageError("--dialog says which dialog is to be answered; name a choice, too: midwatch answer api 1")
    return options.names[0], number, text


def check_text(text: str, label: str) -> str:
    """Words for a choice, as they are typed."""
    found = sessions_text.clean_prompt(text)
    if "\n" in found or len(found) > LONGEST_TEXT:
        raise UsageError(f"{label} takes one line of at most {LONGEST_TEXT} characters")
    return found


def _show_dialog(options: Options, target: str, meant: AnswerTarget, answering: DialogAnswer) -> int:
    found = answering.look()
    dialog = found.dialog
    if options.flag("--json") or dialog is None or dialog.list is None:
        return _finish(options, target, meant.there.pane.id, found)
    _print_dialog(target, dialog)
    hint = f"`midwatch answer {target} N` selects one; `--dialog {dialog.id}` only in this dialog"
    output.print_remark(hint)
    return 0


def _answer(
    options: Options, target: str, meant: AnswerTarget, answering: DialogAnswer, given: tuple[int | None, str | None]
) -> int:
    pane = meant.there.pane.id
    caller = find_caller()
    if why := meant.find_refusal(caller):
        return _finish(options, target, pane, AnswerResult(AnswerOutcome.REFUSED, why))
    expected = options.text("--dialog") or ""
    if not expected and sys.stdin.isatty() and sys.stderr.isatty() and not options.flag("--json"):
        found = answering.look()
        if found.dialog is None or found.dialog.list is None:
            return _finish(options, target, pane, found)
        _print_dialog(target, found.dialog)
        if not _confirm(*given):
            return _finish(
                options, target, pane, AnswerResult(AnswerOutcome.INTERRUPTED, "not confirmed; nothing was typed")
            )
        expected = found.dialog.id
    record = meant.record(caller, given[1])
    begun = []

    def write(dialog: OpenDialog, choice: Choice) -> None:
        record.write_begun(dialog, choice)
        begun.append(choice)

    result = answering.answer(*given, expected, write)
    if begun:
        try:
            record.write_ended(result)
        except (OSError, RefusedError) as error:
            output.print_warning(f"what became of the answer is not in the journal: {error}")
    return _finish(options, target, pane, result)


def _confirm(number: int | None, text: str | None) -> bool:
    what = f"choice {number}" if number is not None else "the choice that takes a text"
    said = f" with {visible(text)!r}" if text is not None else ""
    print(f"select {what}{said}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in YES


def _print_dialog(target: str, dialog: OpenDialog) -> None:
    print(visible(f"{target} ({dialog.agent}): {dialog.kind or 'a dialog'}, dialog {dialog.id}"))
    _print_rows(dialog)
    for choice in dialog.list.choices if dialog.list else ():
        print(f"{choice.number}. {choice.text.line()}{'  (takes --text)' if choice.typed else ''}", flush=True)


def _print_rows(dialog: OpenDialog) -> None:
    for row in dialog.rows:
        print(row.block(), flush=True)


def _finish(options: Options, target: str, pane: str, result: AnswerResult) -> int:
    """Print what became of it; the exit code."""
    shown = result.outcome == AnswerOutcome.OPEN
    if options.flag("--json"):
        print(_format_json(target, pane, result), flush=True)
    elif result.outcome == AnswerOutcome.ANSWERED:
        print(visible(f"{target}: answered: {result.reason}"), flush=True)
    else:
        if result.dialog is not None and result.dialog.list is None:
            _print_rows(result.dialog)
        hint = f"; `midwatch attach {target}` shows it" if result.outcome == AnswerOutcome.UNREADABLE else ""
        pressed = "not confirmed" if result.pressed else "nothing was selected"
        output.print_remark(f"{target}: {pressed} ({result.outcome}): {result.reason}{hint}")
    return 0 if shown else CODES.get(result.outcome, EXIT_CODES["unknown"])


def _format_json(target: str, pane: str, result: AnswerResult) -> str:
    dialog = result.dialog
    listed = dialog.list if dialog is not None else None
    choices = [
        {
            "choice": choice.number, "text": choice.text, "marked": choice.marked, "needs_text": choice.takes_words,
            "takes_text": choice.typed,
        }
        for choice in (listed.choices if listed is not None else ())
    ]  # fmt: skip
    shown = None
    if dialog is not None:
        shown = {
            "id": dialog.id, "agent": dialog.agent, "kind": dialog.kind or None, "rows": list(dialog.rows),
            "choices": choices, "readable": listed is not None,
        }  # fmt: skip
    found = {
        "schema": SCHEMA, "target": target, "pane": pane or None, "outcome": result.outcome, "reason": result.reason,
        "pressed": result.pressed, "choice": result.choice.number if result.choice else None,
        "state": result.state or None, "dialog": shown,
    }  # fmt: skip
    return dump(found)
