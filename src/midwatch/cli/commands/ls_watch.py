"""`midwatch ls --watch`: the same table, redrawn in place at every change.

Each frame is one write: up to where the last one began, each row followed by the order to clear the rest of its line.
No mode of the terminal is changed, so whatever ends this, the last table stays there and nothing else.
"""

from __future__ import annotations

import contextlib
import os

from midwatch.cli import output, safe_output
from midwatch.cli.commands import ls
from midwatch.cli.parser import Options
from midwatch.core.errors import UsageError
from midwatch.core.foreign_text import escape_text, shorten
from midwatch.jobs.loop_beat import LoopBeat
from midwatch.subjects.directory_changes import DirectoryChanges
from midwatch.subjects.model import Subject
from midwatch.system.atomic_files import write_all

CLEAR_LINE, CLEAR_BELOW, CLEAR_ALL = "\033[K", "\033[J", "\033[H\033[2J"


def watch_listing(options: Options) -> int:
    """Until Ctrl-C, or until nobody reads any more."""
    follower: TableFrames | ChangeLines
    if options.flag("--json"):
        follower = ChangeLines(options)
    elif os.isatty(1):
        follower = TableFrames()
    else:
        raise UsageError("--watch redraws a terminal, and this is none; --watch --json prints a line for each change")
    remarks: list[str] = []
    listing, changes, beat = ls.JobListing(options, remarks.append), DirectoryChanges(), LoopBeat()
    try:
        while True:
            remarks.clear()
            if options.flag("--panes"):
                rows = ls.read_panes(options, remarks.append)[0]
                follower.show([("", [Subject(f"pane/{each.name}", "pane", each) for each in rows])], remarks)
            else:
                changes.watch(ls.list_directories(options))
                follower.show(listing.read(), remarks)
            changes.sleep(beat.after_pass())
    except KeyboardInterrupt:
        follower.end()
        raise
    finally:
        changes.close()
        listing.close()


class ChangeLines:
    """A JSON line for each subject that is there at first, and for each whose state, cause or note has changed."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._before: dict[tuple[str, str], tuple[object, ...]] = {}

    def show(self, sections: list[tuple[str, list[Subject]]], remarks: list[str]) -> None:  # noqa: ARG002  # not JSON
        now: dict[tuple[str, str], tuple[object, ...]] = {}
        for title, subjects in sections:
            for each in subjects:
                verdict = each.verdict
                note = verdict.beat.note.raw if verdict.beat else ""
                now[title, each.id] = verdict.state, verdict.final, verdict.cause, verdict.ended, note
                if self._before.get((title, each.id)) != now[title, each.id]:
                    print(ls.format_json(each, self._options), flush=True)
        self._before = now

    def end(self) -> None:
        """Every line is whole."""


class TableFrames:
    """Tables on the terminal at standard output, one over the other."""

    def __init__(self) -> None:
        self._rows = 0
        self._size = (0, 0)

    def show(self, sections: list[tuple[str, list[Subject]]], remarks: list[str]) -> None:
        size = os.get_terminal_size(1)
        columns, lines = size.columns or 80, size.lines or 24
        rows: list[str] = []
        for title, subjects in sections:
            if subjects:
                rows += ([""] if rows else []) + ([title] if title else [])
                rows += output.format_table(ls.table_rows(subjects)).split("\n")
        rows = rows or ["nothing here yet"]
        notes = [shorten(f"warning: {escape_text(remark)}", columns) for remark in dict.fromkeys(remarks)]
        room = max(1, lines - 1 - len(notes))
        if len(rows) > room:
            rows = [*rows[: room - 1], shorten(f"and {len(rows) - room + 1} more", columns)]
        self._draw([*rows, *notes], (columns, lines))

    def end(self) -> None:
        """The terminal has shown ^C; what comes next has a line of its own."""
        os.write(1, b"\n")

    def _draw(self, rows: list[str], size: tuple[int, int]) -> None:
        """One write. After a change of the size nobody knows where the last table is, so the screen is cleared."""
        begin = CLEAR_ALL if self._rows and size != self._size else f"\033[{self._rows}A\r" if self._rows else ""
        shown = [safe_output.escape_output(row) + CLEAR_LINE for row in rows]
        frame = begin + "\n".join(shown) + f"\n{CLEAR_BELOW}"
        self._rows, self._size = len(rows), size
        with contextlib.suppress(BlockingIOError):  # a terminal that is stopped (Ctrl-S) gets the next one
            write_all(1, frame.encode("utf-8", "replace"))
