"""`midwatch ready`: whether a message may be typed to an agent now; with `--recover`, after what may be done for it."""

from __future__ import annotations

from midwatch.agents import catalog
from midwatch.cli import output
from midwatch.cli import pane_arguments as watched
from midwatch.cli.parser import Options
from midwatch.config import paths, sentinel_files
from midwatch.core import names
from midwatch.core.errors import FormatError, RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.job_model import Record
from midwatch.core.json_text import dump
from midwatch.core.pane_model import Pane
from midwatch.core.text import visible
from midwatch.jobs.codec import sentinel
from midwatch.sessions.agent_session import is_its
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import exited_agent, recover
from midwatch.sessions.prompting.model import PromptOutcome
from midwatch.sessions.prompting.recover import Readiness
from midwatch.system.end_signals import CommandSignals
from midwatch.tmux.codec import commands as codec
from midwatch.tmux.codec.commands import is_pane

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
        return _all(options, session.removeprefix("="))
    if len(options.names) != 1 or options.flag("--any"):
        raise UsageError("ready needs one target, or --session S [--any]: midwatch ready %3")
    return _one(options, options.names[0])


def _one(options: Options, target: str) -> int:
    directory = paths.directory(options.text("--dir"))
    asked = CommandSignals()
    panes = None
    try:
        panes, pane = _found(options, target, directory)
        if options.flag("--recover"):
            with asked:
                found = recover.recover(panes, pane, _log, directory=directory, stopped=asked.heard)
        else:
            found = recover.look(panes, pane, directory=directory)
    except RefusedError as error:
        nobody = isinstance(error, watched.NoAgentError)
        found = Readiness(
            "", ready=False, outcome=PromptOutcome.EXITED if nobody else PromptOutcome.REFUSED, reason=str(error)
        )
    finally:
        if panes is not None:
            panes.close()
    if options.flag("--json"):
        print(dump({"schema": SCHEMA, "target": target, **_told(found)}, spaced=True), flush=True)
    else:
        agent = f" ({found.agent})" if found.agent else ""
        print(f"{visible(target)}{agent}: {_words(found)}: {visible(found.reason)}{_hint(found)}", flush=True)
    if asked.heard() and not found.ready:
        return INTERRUPTED
    return 0 if found.ready else CODES.get(found.outcome, NOT_READY)


def _all(options: Options, session: str) -> int:
    panes = watched.watchers(options)[0]
    try:
        found = recover.survey(panes, session, directory=paths.directory(options.text("--dir")))
    finally:
        panes.close()
    if not found:
        output.remark(f"there is no session {session!r}; `tmux list-sessions` lists them")
        return EXIT_CODES["not_found"]
    ready = [(pane, each) for pane, each in found if each.ready]
    shown = ready[:1] if options.flag("--any") else found
    if options.flag("--json"):
        for pane, each in shown:
            where = {"schema": SCHEMA, "session": session, "window": pane.window, "title": pane.title}
            print(dump(where | _told(each), spaced=True), flush=True)
    elif options.flag("--any"):
        print("".join(f"{pane.id}\n" for pane, _ in shown), end="", flush=True)
    else:
        _table(shown)
    if options.flag("--any") and not ready:
        states = ", ".join(f"{pane.id} {each.outcome}" for pane, each in found)
        output.remark(f"no pane of {session} is ready ({states})")
    return 0 if ready else NOT_READY


def _table(shown: list[tuple[Pane, Readiness]]) -> None:
    rows = [
        (
            pane.id, visible(pane.window), "you" if each.person else "", each.agent or "-", _words(each),
            visible(each.reason),
        )
        for pane, each in shown
    ]  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row, (_, each) in zip(rows, shown, strict=True):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        print("  ".join([cell for cell in cells if cell] + [row[5] + _hint(each)]), flush=True)


def _words(found: Readiness) -> str:
    return "ready" if found.ready else f"not ready ({found.outcome})"


def _hint(found: Readiness) -> str:
    return f"; {HELPS[found.step]}" if found.step else ""


def _told(found: Readiness) -> dict[str, object]:
    return {
        "pane": found.pane or None, "agent": found.agent or None, "ready": found.ready, "outcome": found.outcome,
        "detail": found.detail or None, "reason": found.reason, "recover": found.step or None, "person": found.person,
    }  # fmt: skip


def _log(text: str) -> None:
    output.remark(text)


# Which pane ---------------------------------------------------------------------------------------------------------


def _found(options: Options, target: str, directory: str) -> tuple[PaneObserver, str]:
    """The pane that is meant, with an agent in it or not: one that has ended may be brought back."""
    if is_pane(target):
        return watched.watchers(options)[0], target
    if target.startswith("="):
        return _of_session(watched.watchers(options)[0], target[1:])
    name = names.check(target)
    if others := paths.shared_with_others(directory):
        raise RefusedError(f"{others}; nothing is typed where such a directory says")
    try:
        text = sentinel_files.read(f"{directory}/{name}.json")
        record = sentinel.record(text) if text is not None else None
    except FormatError as error:
        raise RefusedError(f"{name}: {error}") from error
    if record is None:
        raise watched.NoAgentError(f"no session is called {name!r} here; `midwatch ls` lists them")
    if record.pane is None:
        raise RefusedError(f"{name} is a job without a pane; nothing can be typed there")
    panes = PaneObserver(catalog.load_all(), paths.hook_spool(), record.pane.server)
    if not _is_there(panes, record, directory):
        panes.close()
        raise watched.NoAgentError(f"{name} is not in its pane any more; `midwatch why {name}` tells more")
    return panes, record.pane.id


def _is_there(panes: PaneObserver, record: Record, directory: str) -> bool:
    """Whether the session's pane is still its own: the same number may be another's by now."""
    assert record.pane is not None
    looked = panes.look(record.pane.id)
    if looked.trouble:
        raise RefusedError(looked.trouble)
    if any(is_its(record, seen) for seen in looked.seen):
        return True
    pane = next((pane for pane in looked.panes if pane.id == record.pane.id), None)
    return pane is not None and pane.dead and exited_agent.record_of(pane, directory) == record


def _of_session(panes: PaneObserver, session: str) -> tuple[PaneObserver, str]:
    looked = panes.look()
    if looked.trouble:
        raise RefusedError(looked.trouble)
    inside = [pane.id for pane in looked.panes if codec.in_session(pane, session)]
    agents = [seen.sighting.pane.id for seen in looked.seen if seen.sighting.pane.id in inside]
    if not inside:
        raise watched.NoAgentError(f"there is no session {session!r}; `tmux list-sessions` lists them")
    one = agents or inside
    if len(one) > 1:
        what = "agents" if agents else "panes without an agent"
        raise RefusedError(f"there are {len(one)} {what} in {session}: {', '.join(one)}; name the pane")
    return panes, one[0]
