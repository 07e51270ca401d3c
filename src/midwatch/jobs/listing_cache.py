"""What a listing remembers of jobs that have ended, so that thousands of them need not be read each time.

The file ``.listing`` holds nothing that is not in the other files and may be removed at any time. A row counts only
while every file that it was made from is the very one that it was (inode, size, times), and only to the program that
wrote it: other words in the code, other rows. It is read and written only where nobody else can have written it.
"""

from __future__ import annotations

import os
import zlib

from midwatch import __version__
from midwatch.config import paths
from midwatch.core import json_text
from midwatch.system.atomic_files import open_plain, read_all, write_atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Marks = list[list[int] | None]
    Rows = dict[str, tuple[Marks, list[Any]]]

FILE = ".listing"
SCHEMA = 1
MADE_FROM = ("json", "status", "result")
"""The files that the verdict on an ended job comes from; of its log only whether it is there."""
RESULT = MADE_FROM.index("result")
SETTLED = 2.0
"""Seconds after which a change must show in a file's times, however coarse the clock of its file system."""
LARGEST, LARGEST_RESULT = 64 << 20, 4096
"""Bytes; what is larger is read again rather than kept twice."""
WORDING = ("core", "jobs", "jobs/codec", "jobs/rules")
"""Packages whose code a verdict comes from."""


def file_marks(fd: int, name: str) -> Marks:
    """Which files a job has at this moment, in the directory that is open as ``fd``."""
    found: Marks = []
    for suffix in MADE_FROM:
        try:
            about = os.stat(f"{name}.{suffix}", dir_fd=fd, follow_symlinks=False)
        except OSError:
            found.append(None)
        else:
            found.append([about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns])
    return found


def is_stable(of: Marks, now: float) -> bool:
    """Whether a row made from these files would tell when one of them changes, and is worth its room."""
    result = of[RESULT]
    if result is not None and result[1] > LARGEST_RESULT:
        return False
    latest = max((mark[3] for mark in of if mark is not None), default=0)
    return latest < (now - SETTLED) * 1e9  # a time to come, after the clock was set back, is not settled either


def is_cache_allowed(directory: str) -> bool:
    """Whether a listing may be kept here: a directory that Midwatch made and that nobody but us can write."""
    try:
        me, spool = os.geteuid(), os.lstat(f"{directory}/spool")
        return spool.st_uid == os.stat(directory).st_uid == me and not paths.find_sharing(directory)
    except OSError:
        return False


def load_rows(directory: str) -> Rows:
    """The rows that were kept; none where the file is missing, spoiled, another's, or of another program."""
    try:
        fd = open_plain(f"{directory}/{FILE}")
        try:
            about = os.fstat(fd)
            if about.st_uid != os.geteuid() or about.st_mode & 0o022:
                return {}
            head, _, rows = read_all(fd, LARGEST).decode("ascii").partition("\n")
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return {}
    if head != _cache_header(rows):
        return {}
    found: Rows = json_text.load(rows)
    return found


def save_rows(directory: str, rows: Rows) -> None:
    """Keep rows, if that can be done: a listing without them says the same."""
    import json  # noqa: PLC0415  # most listings have nothing new to keep

    text = json.dumps(rows, separators=(",", ":"))
    try:
        write_atomic(f"{directory}/{FILE}", f"{_cache_header(text)}\n{text}")
    except OSError:  # a full disk, or one that is read-only
        return


def _cache_header(rows: str) -> str:
    """Names the program that wrote the rows, the code that their words come from, and their check sum."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = []
    for package_part in WORDING:
        with os.scandir(f"{package}/{package_part}") as entries:
            code += sorted((entry.name, entry.stat().st_mtime_ns) for entry in entries if entry.name.endswith(".py"))
    sums = [zlib.crc32(text.encode("ascii")) for text in (repr(code), rows)]
    return f"midwatch {__version__} listing {SCHEMA} {sums[0]:08x} {sums[1]:08x}"
