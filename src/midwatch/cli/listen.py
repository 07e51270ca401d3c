"""`midwatch listen`: read what the program in somebody's pane reports of itself."""

from __future__ import annotations

from midwatch import proc
from midwatch.cli import panes
from midwatch.cli.options import Options
from midwatch.formats import program_status
from midwatch.hands.panes import PaneHand
from midwatch.lean import read_plain
from midwatch.loops import spawning
from midwatch.model.errors import FormatError, RefusedError, UsageError
from midwatch.senses import program_status as reports
from midwatch.senses.tmux import is_pane


def main(options: Options) -> int:
    if len(options.names) != 1 or not is_pane(options.names[0]):
        raise UsageError("listen needs one pane: midwatch listen %3")
    hand = PaneHand(panes.server(options))
    seat = hand.seat(options.names[0])
    path = spawning.status_path(seat.server, seat.id)
    if options.flag("--off"):
        if not _listens(path):
            raise RefusedError(f"`midwatch listen` does not read pane {seat.id}; nothing was changed")
        hand.hush(seat.id)
        return 0
    hand.listen(seat.id, spawning.capture_command("", path, ""))
    return 0


def _listens(path: str) -> bool:
    """Whether a reader that this verb started is at work. Another's pipe is not ours to close, nor a session's log."""
    try:
        found = program_status.read(read_plain(path, reports.LARGEST).decode("utf-8", "replace"))
    except (OSError, FormatError):
        return False
    pid, start = found.reader
    return not found.logs and start != 0 and proc.start_time(pid) == start
