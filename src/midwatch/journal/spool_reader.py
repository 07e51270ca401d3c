"""The spool files of one directory: which have grown, and the events in them that nobody has taken in yet.

A shim appends whole lines. What is cut off (a writer killed in the middle, a full disk) is waited for as long as it is
the last line; in the middle it is an event of its own, `unreadable`. Nothing here is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import accumulate

from midwatch.core import names
from midwatch.core.event import Event
from midwatch.core.value import Value
from midwatch.journal import codec as journal_codec
from midwatch.system.atomic_files import KIND, REGULAR, open_plain

CHUNK = 1 << 20
SUFFIX = ".jsonl"
MOST = 1 << 30
"""Bytes of one file that may wait to be read. A file with more of them is not read: no shim writes so much."""


class SpoolPosition(Value):
    """How far a file was read: which it was, how large then, where the first line begins that was not whole."""

    inode: int
    size: int
    offset: int


START = SpoolPosition(0, 0, 0)


class SpoolBatch(Value):
    """What was read of one file, and how far that goes."""

    file: str
    events: list[Event]
    place: SpoolPosition
    size: int
    """Bytes that these events take there."""
    over: bool
    """Its run has ended, and all of it was read."""


def spool_directory(directory: str) -> str:
    return f"{directory}/spool"


def grown_files(directory: str, known: dict[str, SpoolPosition]) -> list[str]:
    """Files that are not as they were when they were last read. Links and whatever is no file are passed over."""
    if os.path.islink(spool_directory(directory)):
        return []
    try:
        with os.scandir(spool_directory(directory)) as entries:
            return sorted(entry.name for entry in entries if _is_changed(entry, known.get(entry.name, START)))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_changed(entry: os.DirEntry[str], before: SpoolPosition) -> bool:
    if not entry.name.endswith(SUFFIX):
        return False
    try:
        now = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return False
    same = (now.st_ino, now.st_size) == (before.inode, before.size)
    return not same and now.st_mode & KIND == REGULAR and parse_file_name(entry.name) is not None


def parse_file_name(file: str) -> tuple[str, str] | None:
    """Name and run in the name of a spool file; None where it is not one."""
    name, _, run = file.removesuffix(SUFFIX).rpartition(".")
    return None if names.find_problem(name) or names.find_problem(run) else (name, run)


def read_spool(
    directory: str, file: str, before: SpoolPosition, most: int, say: Callable[[str], None]
) -> SpoolBatch | None:
    """The events that came since, about ``most`` bytes of them. None when the file cannot be read (any more).

    None also where there is far more to read than any shim writes, which is said.
    """
    owner = parse_file_name(file)
    assert owner is not None
    try:
        fd = open_plain(f"{spool_directory(directory)}/{file}")
    except OSError:
        return None
    try:
        now = os.fstat(fd)
        start = before.offset if _is_continued(fd, now, before) else 0
        if now.st_size - start > MOST:
            large = f"more than {MOST >> 20} MiB that were never read"
            say(f"{spool_directory(directory)}/{file} has {large}: its events are left out; is it a spool?")
            return None
        found, offset, ended = [], start, False
        for begins, line, size in _read_lines(fd, start, now.st_size):
            if offset - start >= most:
                break
            for part in journal_codec.split_line(line) if size <= journal_codec.LONGEST else [line]:
                if isinstance(part, bytes):
                    part = journal_codec.unreadable_event(*owner, begins, part, size, now.st_mtime)  # noqa: PLW2901
                found.append(part)
                ended = (part.run, part.event) == (owner[1], "ended")
            offset = begins + size + 1
    except OSError:  # a disk that cannot be read: another time
        return None
    finally:
        os.close(fd)
    more = offset - start >= most and offset < now.st_size
    # What is not read yet has to be met again although the file may not grow.
    place = SpoolPosition(now.st_ino, offset if more else now.st_size, offset)
    return SpoolBatch(file, found, place, offset - start, over=ended and offset == now.st_size)


def merge_by_time(read: list[SpoolBatch]) -> list[Event]:
    """Events of several spools by their time; within one spool as they stand, whatever its clock did."""
    timed: list[tuple[float, Event]] = []
    for taken in read:
        timed += zip(accumulate((event.at for event in taken.events), max), taken.events, strict=True)
    return [event for _, event in sorted(timed, key=lambda pair: pair[0])]


def _is_continued(fd: int, now: os.stat_result, before: SpoolPosition) -> bool:
    """Whether it is the file that was read before, and more: another one may stand in its place by now."""
    if now.st_ino != before.inode or now.st_size < before.offset:
        return False
    return before.offset == 0 or os.pread(fd, 1, before.offset - 1) == b"\n"


def _read_lines(fd: int, start: int, end: int) -> Iterator[tuple[int, bytes, int]]:
    """Where each whole line begins, its text and its size. Of one that is far too long only a piece is kept."""
    at = begins = start
    rest, dropped = b"", 0
    while at < end and (chunk := os.pread(fd, min(CHUNK, end - at), at)):
        at += len(chunk)
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            size = dropped + len(line)
            if size:
                yield begins, line, size
            begins += size + 1
            dropped = 0
        if len(rest) > journal_codec.LONGEST:
            dropped += len(rest) - journal_codec.KEPT
            rest = rest[: journal_codec.KEPT]


def remove(directory: str, taken: SpoolBatch) -> bool:
    """Take away the spool of a run that has ended, unless something came meanwhile. True when it is gone."""
    path = f"{spool_directory(directory)}/{taken.file}"
    try:
        now = os.lstat(path)
        if (now.st_ino, now.st_size) != (taken.place.inode, taken.place.size):
            return False
        os.unlink(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
