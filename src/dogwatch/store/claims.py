"""Owning a name: its lease, what an earlier run left under it, and writing its files."""

import contextlib
import os

from dogwatch.formats.sentinel import SUFFIXES
from dogwatch.lean import make_durable, open_plain, write_atomic
from dogwatch.model.errors import RefusedError
from dogwatch.store import leases, places

KEEP_RUNS = 10
"""Earlier runs of a name that are kept in the archive."""


def refuse_links(base: str) -> None:
    """A link planted where we are about to write would lead our output elsewhere."""
    for suffix in (*SUFFIXES, "lock"):
        if os.path.islink(f"{base}.{suffix}"):
            raise RefusedError(f"{base}.{suffix} is a symbolic link; remove it and try again")


def lock(base: str) -> int | None:
    """Take the lease of a name: a file descriptor to hold or inherit, None while another holds it."""
    return leases.take(f"{base}.lock")


def archive(directory: str, name: str, *, goes_on: bool = False) -> None:
    """Move away what an earlier run of this name left, so that it can complete no new one.

    Status first and record last: whoever looks meanwhile finds the old run's end, or nothing. A run that ``goes_on``
    is never out of sight: its record is there until the next one takes its place, and so is what its monitor knows.
    """
    base = f"{directory}/{name}"
    order = ["status", *(suffix for suffix in SUFFIXES if suffix not in ("status", "json")), "json"]
    present = [suffix for suffix in order if os.path.lexists(f"{base}.{suffix}")]
    if not present:
        return
    shelf = f"{directory}/archive/{name}"
    places.make_private(shelf)
    kept = sorted(os.listdir(shelf))
    number = int(kept[-1]) + 1 if kept and kept[-1].isdigit() else 1
    box = f"{shelf}/{number:06d}"
    os.mkdir(box, 0o700)
    for suffix in present:
        if goes_on and suffix in ("json", "watch"):
            _copy(f"{base}.{suffix}", f"{box}/{name}.{suffix}")
        else:
            os.rename(f"{base}.{suffix}", f"{box}/{name}.{suffix}")
    for old in kept[: max(0, len(kept) + 1 - KEEP_RUNS)]:
        _remove(f"{shelf}/{old}")


def _copy(path: str, to: str) -> None:
    made = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(made, "wb") as target, open(open_plain(path), "rb") as source:
        target.write(source.read())


def _remove(box: str) -> None:
    with contextlib.suppress(OSError):
        for entry in os.listdir(box):
            os.unlink(f"{box}/{entry}")
        os.rmdir(box)


def write(path: str, text: str) -> None:
    write_atomic(path, text)
    make_durable(path)
