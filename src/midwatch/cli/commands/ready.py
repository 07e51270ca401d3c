"""`midwatch ready`: whether a message may be typed to an agent now; with `--recover`, after what may be done for it."""

from __future__ import annotations

from midwatch.cli import output, pane_arguments
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core import names
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.json_text import dump
from midwatch.core.names import is_pane
from midwatch.core.pane_model import Pane
from midwatch.core.text import visible
from midwatch.sessions import find_agent
from midwatch.sessions.find_agent import FoundPane
from midwatch.sessions.prompting import recover
from midwatch.sessions.prompting.model import PromptOutcome
from midwatch.sessions.prompting.recover import Readiness
from midwatch.system.end_signals import CommandSignals

SCHEMA = 1
NOT_READY = EXIT_CODES["unknown"]
CODES = {
    PromptOutcome.WAITING: EXIT_CODES["waiting"], PromptOutcome.LIMITED: EXIT_CODES["limited"],
    PromptOutcome.EXITED: EXIT_CODES["not_found"],
}  # fmt: skip
"""Of outcomes; of all others NOT_READY."""
INTERRUPTED = 130
HELPS = {
    "press": "--recover presses Enter for it",
    "wake": "--recover types `fg` to its shell",
    "resume": "--recover resumes it there",
}


def main(options: Options) -> int:
    session = options.text("--session")
    if session is not None:
        if options.names or options.flag("--recover"):
            raise UsageError("--session lists panes; --recover takes one target: midwatch ready %3 --recover")
        return _check_session(options, session.removeprefix("="))
    if len(options.names) != 1 or options.flag("--any"):
        raise UsageError("ready needs one target, or --session S [--any]: midwatch ready %3")
    return _check_pane(options, options.names[0])


def _check_pane(options: Options, target: str) -> int:
    directory = paths.sentinel_directory(options.text("--dir"))
    asked = CommandSignals()
    there = None
    try:
        there = _find_pane(options, target, directory)
        if options.flag("--recover"):
            with asked:
                found = recover.recover_pane(
                    there.panes, there.id, _print_log, directory=directory, stopped=asked.was_asked
                )
        else:
            found = recover.check_readiness(there.panes, there.id, directory=directory)
    except RefusedError as error:
        nobody = isinstance(error, find_agent.NoAgentError)
        found = Readiness(
            "", ready=False, outcome=PromptOutcome.EXITED if nobody else PromptOutcome.REFUSED, reason=str(error)
        )
    finally:
        if there is not None:
            there.close()
    if options.flag("--json"):
        print(dump({"schema": SCHEMA, "target": target, **_json_fields(found)}, spaced=True), flush=True)
    else:
        agent = f" ({found.agent})" if found.agent else ""
        print(
            f"{visible(target)}{agent}: {_format_readiness(found)}: {visible(found.reason)}{_format_hint(found)}",
            flush=True,
        )
    if asked.was_asked() and not found.ready:
        return INTERRUPTED
    return 0 if found.ready else CODES.get(found.outcome, NOT_READY)


def _check_session(options: Options, session: str) -> int:
    server = find_agent.open_server(pane_arguments.server_arguments(options))
    try:
        found = recover.check_session(server.panes, session, directory=paths.sentinel_directory(options.text("--dir")))
    finally:
        server.close()
    if not found:
        output.print_remark(f"there is no session {session!r}; `tmux list-sessions` lists them")
        return EXIT_CODES["not_found"]
    ready = [(pane, each) for pane, each in found if each.ready]
    shown = ready[:1] if options.flag("--any") else found
    if options.flag("--json"):
        for pane, each in shown:
            where = {"schema": SCHEMA, "session": session, "window": pane.window, "title": pane.title}
            print(dump(where | _json_fields(each), spaced=True), flush=True)
    elif options.flag("--any"):
        print("".join(f"{pane.id}\n" for pane, _ in shown), end="", flush=True)
    else:
        _table(shown)
    if options.flag("--any") and not ready:
        states = ", ".join(f"{pane.id} {each.outcome}" for pane, each in found)
        output.print_remark(f"no pane of {session} is ready ({states})")
    return 0 if ready else NOT_READY


def _table(shown: list[tuple[Pane, Readiness]]) -> None:
    rows = [
        (
            pane.id, visible(pane.window), "you" if each.person else "", each.agent or "-", _format_readiness(each),
            visible(each.reason),
        )
        for pane, each in shown
    ]  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row, (_, each) in zip(rows, shown, strict=True):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        print("  ".join([cell for cell in cells if cell] + [row[5] + _format_hint(each)]), flush=True)


def _format_readiness(found: Readiness) -> str:
    return "ready" if found.ready else f"not ready ({found.outcome})"


def _format_hint(found: Readiness) -> str:
    return f"; {HELPS[found.step]}" if found.step else ""


def _json_fields(found: Readiness) -> dict[str, object]:
    return {
        "pane": found.pane or None, "agent": found.agent or None, "ready": found.ready, "outcome": found.outcome,
        "detail": found.detail or None, "reason": found.reason, "recover": found.step or None, "person": found.person,
    }  # fmt: skip


def _print_log(text: str) -> None:
    output.print_remark(text)


# Which pane ---------------------------------------------------------------------------------------------------------


def _find_pane(options: Options, target: str, directory: str) -> FoundPane:
    """The pane that is meant, with an agent in it or not: one that has ended may be brought back."""
    if is_pane(target) or target.startswith("="):
        return find_agent.find_pane(pane_arguments.server_arguments(options), target)
    return find_agent.find_pane_of_session(directory, names.check_name(target))
