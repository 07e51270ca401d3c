"""Ending a session of the list. Its row says `stopped` before anything ends, so that nobody takes the end for another.

Sessions of ours are ended by their shims. Of any other, the processes below its pane are ended, if the pane is the one
that the row names or has the row's agent in it, and then the pane is closed.
"""

from __future__ import annotations

import signal

from midwatch.agents import definition as agents
from midwatch.core.errors import RefusedError
from midwatch.core.job_model import Record
from midwatch.core.pane_model import ProcessInfo, RunningAgent
from midwatch.core.presence import LIVES
from midwatch.core.value import Value
from midwatch.jobs import stop
from midwatch.registry.model import ENDED, STOPPED, RegistryRow, TmuxPane, iso
from midwatch.registry.rules.row import is_same_pane
from midwatch.registry.sessions import RegisteredSessions, RowStatus
from midwatch.system import processes, procfs
from midwatch.system import terminate_tree as hand
from midwatch.system.process_tree import ProcessTrees, find_running_agent
from midwatch.tmux.sessions import TmuxSessions

LEAVES = 10.0
"""Seconds that an agent has to leave by itself."""
HANGS_UP = 5.0
"""Seconds that a shell has to go when its terminal goes away."""
GRACEFUL, FORCED = "graceful", "forced"
WRITTEN = ("status", "stopped_at", "termination_mode", "resumable", "reason")


class StopOptions(Value):
    """How somebody wants a session to be ended."""

    reason: str = ""
    graceful: bool = False
    capture: bool = False
    """Its conversation's id is to be noted first."""


class StopResult(Value):
    row: RegistryRow
    mode: str
    """GRACEFUL or FORCED; empty where nothing of it was there any more."""
    again: bool = False
    """Its row had said so before, and nothing was done."""
    left: str = ""
    """Why its pane is still there."""


def stop_session(listed: RegisteredSessions, standing: RowStatus, asked: StopOptions, wall: float) -> StopResult:
    """End a session and say so in its row. RefusedError: it goes on as before, and its row says what it said."""
    row = standing.row
    if row.status in ENDED and not _is_identified(standing):
        return StopResult(row, "", again=True)
    if standing.case.trouble and not standing.lives and not standing.is_gone:
        raise RefusedError(f"whether {row.name} runs cannot be told: {standing.case.trouble}")
    if standing.lives and not _is_identified(standing):
        raise RefusedError(
            f"there is a session {row.name}, but neither its process nor an agent in it is that of the list; "
            "close it yourself, or put the row right"
        )
    row = _record_stop(listed, standing, asked, wall)
    if not standing.lives:
        _close_dead_pane(standing)
        return StopResult(row, "")
    try:
        mode, left = _end_session(listed, standing, graceful=asked.graceful)
    except RefusedError:
        listed.write(row, {field: standing.row.data.get(field) for field in WRITTEN})
        raise
    if mode != (GRACEFUL if asked.graceful else FORCED):
        row = listed.write(row, {"termination_mode": mode})
    return StopResult(row, mode, left=left)


def _record_stop(listed: RegisteredSessions, standing: RowStatus, asked: StopOptions, wall: float) -> RegistryRow:
    row, talk = standing.row, standing.row.conversation
    values: dict[str, object] = {"status": STOPPED, "stopped_at": iso(wall)}
    if asked.capture:
        talk = standing.conversation
        if not talk:
            raise RefusedError(
                f"the id of {row.name}'s conversation is not known (yet): nothing was stopped. "
                "Without --capture-id it is, and cannot be resumed"
            )
        if talk != row.conversation:
            values[f"{listed.detector(row).agent}_session_id_own"] = talk
    if standing.lives:
        values["termination_mode"] = GRACEFUL if asked.graceful else FORCED
    values["resumable"] = bool(talk) and row.resumable is not False
    if asked.reason:
        values["reason"] = asked.reason
    return listed.write(row, values)


def _is_identified(standing: RowStatus) -> bool:
    """Whether what is there is the row's beyond doubt, so that it may be ended."""
    row, pane = standing.row, standing.pane
    if not standing.over:
        return True
    if pane is None:
        return standing.process == LIVES and bool(row.pane.start and row.pane.boot)
    if is_same_pane(row, pane) and (row.pane.start or standing.process == LIVES):
        return True
    return row.status not in ENDED and bool(row.agent) and pane.agent == row.agent


# Ending ---------------------------------------------------------------------------------------------------------------


def _end_session(listed: RegisteredSessions, standing: RowStatus, *, graceful: bool) -> tuple[str, str]:
    """End it. Returns how that went, and why its pane could not be closed, if so."""
    record = standing.record
    if record is not None and record.adopted is None and not standing.over:
        return _end_own_session(listed, record, graceful=graceful)
    if record is not None and not standing.over:
        stop.stop_job(listed.looker, record.name)
    if standing.pane is None:
        return _end_process(standing), ""
    return _end_foreign_pane(listed, standing.pane, graceful=graceful)


def _end_own_session(listed: RegisteredSessions, record: Record, *, graceful: bool) -> tuple[str, str]:
    """By its shim, which asks first and then ends; the capture and exactly its session are closed then."""
    verdict = stop.stop_job(listed.looker, record.name)
    assert record.pane is not None
    left = TmuxSessions(record.pane.server).close(record.pane)
    return GRACEFUL if graceful and verdict.signal != signal.SIGKILL else FORCED, left


def _end_process(standing: RowStatus) -> str:
    """The process of a pane that tmux does not show: the row tells exactly which one it is."""
    pane = standing.row.pane
    if left := hand.end_tree(lambda: {pane.pid: pane.start}):
        raise RefusedError(f"{standing.row.name} could not be ended; still there: {', '.join(map(str, left))}")
    return FORCED


def _end_foreign_pane(listed: RegisteredSessions, pane: TmuxPane, *, graceful: bool) -> tuple[str, str]:
    tmux = TmuxSessions(pane.server)
    seat = tmux.seat(pane.id)
    if pane.start and procfs.start_time(pane.pid) != pane.start:
        raise RefusedError(f"what runs in {pane.id} has just become another; look again")
    found = find_agent(listed, pane.pid)
    spare = found[0].start.daemons if found and found[0].start else ()
    left_alone = False
    if graceful and found and hand.signal_exactly(found[1].pid, found[1].start, signal.SIGTERM):
        left_alone = _has_left(found[1])
    root = {pane.pid: pane.start or procfs.start_time(pane.pid)}
    is_root = bool(found and found[1].pid == pane.pid) or procfs.is_shim(pane.pid)
    left = hand.end_tree(lambda: root if is_root else processes.start_times(procfs.children(pane.pid)), spare=spare)
    if left:
        raise RefusedError(f"what runs in {pane.id} could not be ended; still there: {', '.join(map(str, left))}")
    why = tmux.remove(seat)
    if not why and not processes.await_exit(pane.pid, HANGS_UP):
        hand.end_tree(lambda: root)
    return GRACEFUL if left_alone else FORCED, why


def _close_dead_pane(standing: RowStatus) -> None:
    """A pane that is left though nothing runs in it any more; that it could not be closed is no harm."""
    pane, record = standing.case.pane, standing.record
    if record is not None and record.pane is not None and record.adopted is None:
        TmuxSessions(record.pane.server).close(record.pane)
    elif pane is not None and pane.dead and is_same_pane(standing.row, pane):
        tmux = TmuxSessions(pane.server)
        tmux.remove(tmux.seat(pane.id))


def _has_left(task: ProcessInfo) -> bool:
    processes.await_exit(task.pid, LEAVES)
    return not processes.is_alive(task.pid, task.start)


def find_agent(listed: RegisteredSessions, pid: int) -> tuple[agents.Detector, ProcessInfo] | None:
    """The agent in a pane: which, and as which process."""
    return agents.find_agent(listed.detectors, ProcessTrees().below(pid))


def describe_agent(listed: RegisteredSessions, standing: RowStatus) -> RunningAgent | None:
    """What is needed to find the files of a row's agent while it runs."""
    found = find_agent(listed, standing.pane.pid) if standing.pane is not None else None
    return find_running_agent(found[1], found[0].agent, found[0].variables) if found else None
