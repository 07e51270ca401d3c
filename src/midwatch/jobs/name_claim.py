"""Owning a name: its lease, what an earlier run left under it, and writing its files."""

import contextlib
import os

from midwatch.config import paths, sentinel_files
from midwatch.core.errors import RefusedError
from midwatch.jobs.codec.sentinel import SUFFIXES, drop_values
from midwatch.shim import drop_box
from midwatch.system import file_locks
from midwatch.system.atomic_files import make_durable, read_plain, write_atomic
from midwatch.system.remove_tree import remove_tree

KEEP_RUNS = 10
"""Earlier runs of a name that are kept in the archive."""
KEPT = ("json", "watch", "plan", "limit")
"""Files that a run which goes on with the last one takes over."""


def refuse_links(base: str) -> None:
    """A link planted where we are about to write would lead our output elsewhere."""
    for suffix in (*SUFFIXES, "lock"):
        if os.path.islink(f"{base}.{suffix}"):
            raise RefusedError(f"{base}.{suffix} is a symbolic link; remove it and try again")
    box = drop_box.box_path(*os.path.split(base))
    for path in (os.path.dirname(box), box):
        if os.path.islink(path):
            raise RefusedError(f"{path} is a symbolic link; remove it and try again")


def lock_name(base: str) -> int | None:
    """Take the lease of a name: a file descriptor to hold or inherit, None while another holds it."""
    return file_locks.acquire(f"{base}.lock")


def archive_run(directory: str, name: str, *, goes_on: bool = False) -> None:
    """Move away what an earlier run of this name left, so that it can complete no new one.

    Status first and record last: whoever looks meanwhile finds the old run's end, or nothing. A run that ``goes_on``
    is never out of sight: its record is there until the next one takes its place, and so is what its monitor knows
    and was asked to do.
    """
    base = f"{directory}/{name}"
    order = ["status", *(suffix for suffix in SUFFIXES if suffix not in ("status", "json")), "json"]
    present = [suffix for suffix in order if os.path.lexists(f"{base}.{suffix}")]
    dropped = _drop_box_entries(drop_box.box_path(directory, name))
    if not present and not dropped:
        return
    shelf = f"{directory}/archive/{name}"
    paths.make_private(shelf)
    kept = sorted(os.listdir(shelf))
    number = int(kept[-1]) + 1 if kept and kept[-1].isdigit() else 1
    box = f"{shelf}/{number:06d}"
    os.mkdir(box, 0o700)
    _move_entries(drop_box.box_path(directory, name), dropped, drop_box.box_path(box, name))
    for suffix in present:
        if goes_on and suffix in KEPT:
            _copy_file(f"{base}.{suffix}", f"{box}/{name}.{suffix}")
        else:
            os.rename(f"{base}.{suffix}", f"{box}/{name}.{suffix}")
    for old in kept[: max(0, len(kept) + 1 - KEEP_RUNS)]:
        _remove_box(f"{shelf}/{old}")
    for each in (*kept[max(0, len(kept) + 1 - KEEP_RUNS) :], f"{number:06d}"):
        _drop_values(f"{shelf}/{each}/{name}.json")


def _drop_values(path: str) -> None:
    """Take the values of variables out of a record of an earlier release, which wrote them down."""
    with contextlib.suppress(OSError):
        mended = drop_values(read_plain(path, sentinel_files.LARGEST).decode("utf-8", "surrogateescape"))
        if mended is not None:
            write_atomic(path, mended)


def _drop_box_entries(box: str) -> list[str]:
    """What an earlier run left in its drop box, but for mail, which waits there to be taken in."""
    try:
        return [entry for entry in os.listdir(box) if entry.rpartition(".")[2] not in drop_box.MAIL]
    except FileNotFoundError:
        return []


def _move_entries(box: str, entries: list[str], to: str) -> None:
    """Empty a drop box. The directory itself stays: it may be mounted into a sandbox that lives on."""
    if entries:
        paths.make_private(to)
    for entry in entries:
        with contextlib.suppress(OSError):  # whatever it is, it was only data
            os.rename(f"{box}/{entry}", f"{to}/{entry}")


def _copy_file(path: str, to: str) -> None:
    made = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(made, "wb") as target:
        target.write(read_plain(path, sentinel_files.LARGEST))


def _remove_box(box: str) -> None:
    with contextlib.suppress(OSError):  # what the work has given to another user stays
        remove_tree(box)


def write_file(path: str, text: str) -> None:
    write_atomic(path, text)
    make_durable(path)
