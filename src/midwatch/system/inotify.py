"""File events from the kernel (inotify), by ctypes.

The libraries for this cost more to import than the whole of `midwatch wait` may take. Heartbeats are not worth a
wake-up each: only names that appear (created or renamed into place) and the end of the directory are asked for; a
file being written, or a log that is followed, gets a watch of its own.
"""

import ctypes
import errno
import os
import struct

MODIFY, CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE = 0x2, 0x8, 0x40, 0x80, 0x100
DELETE, DELETE_SELF, MOVE_SELF = 0x200, 0x400, 0x800
UNMOUNT, OVERFLOW, IGNORED = 0x2000, 0x4000, 0x8000
NAMES = MOVED_TO | CREATE | MOVED_FROM | DELETE | DELETE_SELF | MOVE_SELF
WRITES = MODIFY | CLOSE_WRITE
OVER = DELETE_SELF | MOVE_SELF | UNMOUNT | IGNORED

DEAF = frozenset(
    ("9p", "afs", "ceph", "cifs", "fuse", "glusterfs", "lustre", "nfs", "nfs4", "overlay", "smb3", "smbfs", "virtiofs")
)
"""File systems whose changes, when made elsewhere, raise no event here."""


class FileEvents:
    """One inotify queue. ``read()`` gives (watch, mask, name); OVERFLOW in a mask means: look at everything."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd: int = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    def fileno(self) -> int:
        return self._fd

    def add(self, path: str, mask: int) -> int:
        watch: int = self._libc.inotify_add_watch(self._fd, os.fsencode(path), mask)
        if watch < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), path)
        return watch

    def remove(self, watch: int) -> None:
        self._libc.inotify_rm_watch(self._fd, watch)

    def read(self) -> list[tuple[int, int, str]]:
        try:
            data = os.read(self._fd, 65536)
        except OSError as error:
            if error.errno == errno.EAGAIN:
                return []
            raise
        events, at = [], 0
        while at < len(data):
            watch, mask, _, length = struct.unpack_from("iIII", data, at)
            name = data[at + 16 : at + 16 + length].rstrip(b"\0").decode("utf-8", "surrogateescape")
            events.append((watch, mask, name))
            at += 16 + length
        return events

    def close(self) -> None:
        os.close(self._fd)


def file_system_type(path: str) -> str:
    """Type of the file system that holds a path, as the mount table names it; empty when it cannot be known."""
    path = os.path.realpath(path)
    best, kind = "", ""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as table:
            for line in table:
                fields = line.split()
                point = fields[4].replace("\\040", " ")
                inside = path == point or path.startswith(point.rstrip("/") + "/")
                if inside and len(point) >= len(best):
                    best, kind = point, fields[fields.index("-") + 1]
    except (OSError, ValueError, IndexError):
        return ""
    return kind


def find_event_problem(path: str) -> str:
    """Why events under a path cannot be relied upon; empty when they can."""
    if os.environ.get("MIDWATCH_EVENTS") == "off":
        return "events are turned off (MIDWATCH_EVENTS=off)"
    kind = file_system_type(path)
    return f"{kind} hides changes made elsewhere" if kind.split(".")[0] in DEAF else ""
