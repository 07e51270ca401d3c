"""Reads what the program in a pane reports of itself, where no session of ours does: starts and ends that."""

from __future__ import annotations

from midwatch.agents.program_status import codec as program_status_codec
from midwatch.agents.program_status import observe as program_status_observe
from midwatch.core.errors import FormatError, RefusedError
from midwatch.sessions import spawn
from midwatch.system import procfs
from midwatch.system.atomic_files import read_plain
from midwatch.tmux.sessions import TmuxSessions


def start(hand: TmuxSessions, pane: str) -> None:
    seat = hand.seat(pane)
    hand.listen(seat.id, spawn.capture_command("", spawn.prepare_status_path(seat.server, seat.id), ""))


def stop(hand: TmuxSessions, pane: str) -> None:
    """RefusedError where `start` has not been there. Another's pipe is not ours to close, nor a session's log."""
    seat = hand.seat(pane)
    if not _reads(spawn.prepare_status_path(seat.server, seat.id)):
        raise RefusedError(f"`midwatch listen` does not read pane {seat.id}; nothing was changed")
    hand.hush(seat.id)


def _reads(path: str) -> bool:
    """Whether a reader that `start` has started is at work."""
    try:
        text = read_plain(path, program_status_observe.LARGEST).decode("utf-8", "replace")
        found = program_status_codec.read(text)
    except (OSError, FormatError):
        return False
    pid, start = found.reader
    return not found.logs and start != 0 and procfs.start_time(pid) == start
