"""What the program in a pane reports of itself (OSC 7501), as the reader of that pane has noted it."""

from __future__ import annotations

import os

from midwatch.agents.program_status import codec as program_status_codec
from midwatch.agents.program_status.codec import StatusLines
from midwatch.core.errors import FormatError
from midwatch.core.pane_model import REPORTS, Pane, SourceReport
from midwatch.system import procfs
from midwatch.system.atomic_files import read_plain
from midwatch.tmux import client as tmux_client

LARGEST = 1 << 20
MOST = 512
SUFFIX = ".status"


class ProgramStatus:
    """The status files of all panes; one that did not change is not read again."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._names: frozenset[str] = frozenset()
        self._sockets: dict[tuple[str, ...], str] = {}
        self._read: dict[str, tuple[tuple[int, ...], StatusLines]] = {}

    def refresh(self) -> None:
        """See which panes are heard; once for a look at many."""
        try:
            self._names = frozenset(os.listdir(self._directory))
        except OSError:
            self._names = frozenset()
        self._sockets.clear()

    def has_reader(self, pane: Pane) -> bool:
        """Whether anybody hears, or has heard, what is reported in a pane."""
        return bool(self._names) and self._name(pane) in self._names

    def read(self, pane: Pane, start: int) -> SourceReport | None:
        """What the process that began then (clock ticks after boot) reports; None where nobody hears it."""
        if not self.has_reader(pane):
            return None
        path = f"{self._directory}/{self._name(pane)}"
        try:
            found = self._lines(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return _unreadable_report(f"{path} cannot be read: {error.strerror}")
        except FormatError as error:
            return _unreadable_report(f"{path}: {error}")
        status = (
            program_status_codec.combine_reports(found, start / procfs.TICKS)
            if found.boot == procfs.boot_id()
            else None
        )
        if status is None:
            return None
        pid, began = found.reader
        if procfs.start_time(pid) != began:
            return _unreadable_report("what the agent reports is not read any more: its reader has ended")
        return SourceReport(REPORTS, status.at, {**status.words, "path": path})

    def _name(self, pane: Pane) -> str:
        if pane.server not in self._sockets:
            self._sockets[pane.server] = _encode_server(pane.server)
        return f"{self._sockets[pane.server]}{pane.id}{SUFFIX}"

    def _lines(self, path: str) -> StatusLines:
        now = os.stat(path, follow_symlinks=False)
        seen = (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns)
        before = self._read.pop(path, None)
        if before is None or before[0] != seen:
            before = seen, program_status_codec.read(read_plain(path, LARGEST).decode("utf-8", "replace"))
        self._read[path] = before
        if len(self._read) > MOST:
            del self._read[next(iter(self._read))]
        return before[1]


def status_file_path(directory: str, server: tuple[str, ...], pane: str) -> str:
    """Where the reader of a pane notes what is reported there."""
    return f"{directory}/{_encode_server(server)}{pane}{SUFFIX}"


def _encode_server(server: tuple[str, ...]) -> str:
    return os.path.realpath(tmux_client.socket_path(server)).replace("/", ",")


def _unreadable_report(why: str) -> SourceReport:
    return SourceReport(REPORTS, None, {}, why)
