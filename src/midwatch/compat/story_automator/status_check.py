"""`story-automator tmux-status-check` and `codex-status-check`: one look, one line of six cells.

What a look alone cannot tell (has it moved since the last one? has its clock?) is remembered beside the session, in
the file that the published programs use for that.
"""

from __future__ import annotations

import json
import os
import time

from midwatch.agents import catalog
from midwatch.agents.turn_model import SessionMemory
from midwatch.compat.story_automator import project, screen_fields, sessions
from midwatch.compat.story_automator.arguments import Arguments
from midwatch.compat.story_automator.result_mapping import exit_code_or_signal
from midwatch.config import paths
from midwatch.core.errors import MidwatchError
from midwatch.core.job_model import PaneRef, Record
from midwatch.core.policy import Policy
from midwatch.core.process_state import ProcessState
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.jobs.codec import monitor_state_file
from midwatch.jobs.monitor_state import MonitorState
from midwatch.sessions.agent_session import AgentSession
from midwatch.sessions.pane_observer import AgentMemory, PaneObserver
from midwatch.system import procfs
from midwatch.tmux import capture

USAGE = """\
Usage: tmux-status-check <session_name> [--full] [--project-root PATH]
Prints: status,todos_done,todos_total,active_task,wait_estimate,session_state
With --full its output is saved, and its path stands for the task; of a crash the exit code stands for the estimate."""
ERROR = "error,0,0,{},30,error"
ROWS = 50
"""Of what shows no turn, how many are looked through for a task."""
JUST_STARTED = 15
"""Seconds until another look at what has just started."""
LATER = 30
OURS = "midwatch"
"""Under which key our own memory is kept."""


class StatusCheck(Value):
    verdict: Verdict
    text: str
    """What the pane shows."""
    seat: PaneRef | None = None
    agent: tuple[int, int] = (0, 0)
    memory: SessionMemory | None = None
    run: str = ""


def main(words: list[str]) -> int:
    given = Arguments(words, ("--project-root", "--agent", "--poll-count", "--has-active", "--pane-status"))
    if given.flag("--help"):
        print(USAGE)
        return 0
    if len(given.names) != 1:
        print(ERROR.format("no_session"))
        return 1
    session = project.check_session(given.names[0])
    root = sessions.find_project(session, project.resolve_project(given.text("--project-root")))
    try:
        looked = check_session(root, session)
    except MidwatchError as error:
        print(ERROR.format(screen_fields.to_plain_cell(str(error))))
        return 0
    print(format_line(root, session, looked, full=given.flag("--full")))
    return 0


def format_line(root: str, session: str, looked: StatusCheck, *, full: bool) -> str:
    """status, todos done, todos, active task or output file, wait estimate or exit code, session state."""
    done, total = screen_fields.count_todos(looked.text)
    status, state, number = _status_words(looked.verdict)
    task = (
        screen_fields.find_task(looked.text, looked.verdict.reason) if state in ("in_progress", "stuck", "idle") else ""
    )
    if state == "in_progress":
        number = screen_fields.wait_estimate(task, done, total)
    if full and state != "not_found":
        looker = sessions.job_observer(root)
        task = sessions.save_output(root, session, sessions.last_shown_output(looker, session, looked.seat)) or task
    return f"{status},{done},{total},{task},{number},{state}"


def _status_words(verdict: Verdict) -> tuple[str, str, int]:
    """Status, session state, and the number beside them."""
    match verdict.state:
        case "working" if verdict.cause == "clock-advances":
            return "active", "just_started", JUST_STARTED  # the time gate's own word for it
        case "working" | "limited":
            return "active", "in_progress", 0
        case "starting":
            return "active", "just_started", JUST_STARTED
        case "completed":
            return "idle", "completed", 0
        case "idle" if verdict.detail == "turn-ended":
            return "idle", "completed", 0
        case "idle" if verdict.detail == "background-work":
            return "active", "in_progress", 0
        case "idle" | "waiting":
            return "idle", "idle", LATER
        case "stuck":
            return "idle", "stuck", 0
        case state if state in ("failed", "crashed") or verdict.cause == "exit-unseen":
            number = exit_code_or_signal(verdict)
            return "crashed", "crashed", 1 if number is None else number
        case "unknown" if verdict.process in ("alive", "unsupervised", "suspended"):
            return "active", "in_progress", 0
        case "unknown":
            return "error", "error", LATER
        case _:
            return "not_found", "not_found", 0


# Looking ----------------------------------------------------------------------------------------------------------


def check_session(root: str, session: str) -> StatusCheck:
    """One look at a session, with what the last one has seen."""
    looker = sessions.job_observer(root)
    record = sessions.find_record(looker, session)
    path = project.state_file(root, session)
    if record is not None:
        found = _check_own_session(AgentSession(looker, session, looker.policy), record, _read_state(path, record.run))
    else:
        found = _check_foreign_session(looker.policy, session, path)
    _write_state(path, found)
    return found


def _check_own_session(session: AgentSession, record: Record, before: MonitorState | None) -> StatusCheck:
    assert record.pane is not None
    try:
        session.facts()  # takes in what a monitor has noted
        panes = session.panes(record)
        noted = panes.remembered.get(record.pane.id)
        if before is not None and before.memory and (noted is None or noted.memory.looked < before.memory.looked):
            panes.remembered[record.pane.id] = _carry_over(before, session.policy)
        looked = session.observe()
        known = panes.known.get(record.pane.id)
        text = "\n".join(looked.seen.sighting.rows) if looked.seen else capture.capture_text(record.pane, ROWS) or ""
    finally:
        session.close()
    return StatusCheck(
        looked.verdict, text, record.pane, known.process if known else (0, 0),
        known.memory if known else None, record.run,
    )  # fmt: skip


def _check_foreign_session(policy: Policy, session: str, path: str) -> StatusCheck:
    there = sessions.find_session(session)
    if there is None:
        gone = Verdict(session, "session", "not_found", True, "there is none", "gone", "unknown", "not-found")
        return StatusCheck(gone, "")
    if (over := sessions.find_end(there)) is not None:
        return StatusCheck(over, "", there.seat)
    panes = PaneObserver(catalog.load_all(), paths.hook_spool(), there.seat.server, policy)
    run = f"{there.seat.life} {there.seat.id}"
    try:
        if (before := _read_state(path, run)) is not None and before.memory:
            panes.remembered[there.seat.id] = _carry_over(before, policy)
        looked = panes.observe(there.seat.id)
        known = panes.known.get(there.seat.id)
    finally:
        panes.close()
    if not looked.seen or known is None:
        why = looked.trouble or "no agent is to be seen in it"
        process: ProcessState = "unknown" if looked.trouble else "alive"
        unseen = Verdict(session, "session", "unknown", False, why, process, "unknown", "not-seen")
        return StatusCheck((not looked.trouble and sessions.find_idle_shell(there)) or unseen, "", there.seat)
    seen = looked.seen[0]
    return StatusCheck(seen.verdict, "\n".join(seen.sighting.rows), there.seat, known.process, known.memory, run)


# Remembering ------------------------------------------------------------------------------------------------------


def _carry_over(before: MonitorState, policy: Policy) -> AgentMemory:
    """What the last look has seen holds until this one: whoever polls looks seldom, and is not asleep meanwhile."""
    assert before.memory is not None
    return AgentMemory(before.agent, before.memory._replace(looked=time.monotonic()), policy)


def _read_state(path: str, run: str) -> MonitorState | None:
    """What the last look at this very run has seen; a file of the published programs has nothing of that."""
    try:
        kept = json.loads(sessions.read(path) or "{}")
        watch = monitor_state_file.decode_state(json.dumps(kept[OURS]))
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return watch if watch is not None and (watch.run, watch.boot) == (run, procfs.boot_id()) else None


def _write_state(path: str, looked: StatusCheck) -> None:
    if looked.memory is None:
        if looked.verdict.final:
            _remove_state(path)
        return
    kept = _read_numbers(path)
    done, total = screen_fields.count_todos(looked.text)
    now = time.monotonic()
    watch = MonitorState(
        looked.run, procfs.boot_id(), (os.getpid(), procfs.start_time(os.getpid())), now, now,
        agent=looked.agent, memory=looked.memory,
    )  # fmt: skip
    told = {
        "pollCount": kept.get("pollCount", 0) + 1,
        "hasEverBeenActive": bool(kept.get("hasEverBeenActive")) or looked.verdict.turn == "working",
        "lastTodosDone": done, "lastTodosTotal": total,
        "lastStatuslineTime": looked.memory.clock[0] if looked.memory.clock else "",
        "lastPollAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        OURS: json.loads(monitor_state_file.encode_state(watch)),
    }  # fmt: skip
    try:
        sessions.write(path, json.dumps(told, separators=(",", ":")))
    except OSError:
        pass  # the next look begins anew


def _read_numbers(path: str) -> dict[str, int]:
    try:
        kept = json.loads(sessions.read(path) or "{}")
    except (ValueError, RecursionError):
        return {}
    return {key: value for key, value in kept.items() if isinstance(value, int)} if isinstance(kept, dict) else {}


def _remove_state(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
