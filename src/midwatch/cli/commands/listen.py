"""`midwatch listen`: read what the program in somebody's pane reports of itself."""

from __future__ import annotations

from midwatch.agents.program_status import codec as program_status_codec
from midwatch.agents.program_status import observe as reports
from midwatch.cli import pane_arguments
from midwatch.cli.parser import Options
from midwatch.core.errors import FormatError, RefusedError, UsageError
from midwatch.sessions import spawn
from midwatch.system import procfs
from midwatch.system.atomic_files import read_plain
from midwatch.tmux.codec.commands import is_pane
from midwatch.tmux.sessions import TmuxSessions


def main(options: Options) -> int:
    if len(options.names) != 1 or not is_pane(options.names[0]):
        raise UsageError("listen needs one pane: midwatch listen %3")
    hand = TmuxSessions(pane_arguments.server(options))
    seat = hand.seat(options.names[0])
    path = spawn.status_path(seat.server, seat.id)
    if options.flag("--off"):
        if not _listens(path):
            raise RefusedError(f"`midwatch listen` does not read pane {seat.id}; nothing was changed")
        hand.hush(seat.id)
        return 0
    hand.listen(seat.id, spawn.capture_command("", path, ""))
    return 0


def _listens(path: str) -> bool:
    """Whether a reader that this verb started is at work. Another's pipe is not ours to close, nor a session's log."""
    try:
        found = program_status_codec.read(read_plain(path, reports.LARGEST).decode("utf-8", "replace"))
    except (OSError, FormatError):
        return False
    pid, start = found.reader
    return not found.logs and start != 0 and procfs.start_time(pid) == start
