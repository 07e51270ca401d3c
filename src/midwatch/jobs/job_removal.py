"""Removing what an ended job left: its files, its drop box, and the archived runs of its name.

Only who holds the lease of the name may do so: then nothing runs under it, and nothing begins. The record goes last but
for the lock, so whoever looks meanwhile finds a job that has ended, or none.
"""

from __future__ import annotations

import contextlib
import os

from midwatch.config import sentinel_files
from midwatch.core import names
from midwatch.core.errors import FormatError
from midwatch.core.job_model import Record
from midwatch.core.value import Value
from midwatch.jobs import name_claim, start
from midwatch.jobs.codec import sentinel
from midwatch.jobs.job_directory import JobDirectory
from midwatch.shim import drop_box
from midwatch.system.remove_tree import remove_tree

ORDER = ("status", *(each for each in sentinel.SUFFIXES if each not in ("status", "json")), "halt", "actor", "json")


class ArchivedRun(Value):
    """One earlier run of a name."""

    path: str
    record: Record | None
    """None where it cannot be read, or Midwatch did not start it."""
    ended: float
    """Wall."""


def hold_name(looker: JobDirectory, name: str) -> int | None:
    """The lease of a name; None while anything runs or begins under it. A shim that has ended may leave first."""
    base = f"{looker.directory}/{name}"
    lease = name_claim.lock_name(base)
    if lease is None and start.has_shim_left(looker, name):
        lease = name_claim.lock_name(base)
    return lease


def release_name(directory: str, name: str, lease: int) -> None:
    """Let a name go; a lock that no job needs any more is removed."""
    if not sentinel_files.is_job(f"{directory}/{name}"):
        with contextlib.suppress(OSError):
            os.unlink(f"{directory}/{name}.lock")
    os.close(lease)


def ended_at(directory: str, name: str, record: Record | None) -> float:
    """When a run ended (wall): as its record says, else when the last of its files was written."""
    if record is not None and record.end is not None:
        return record.end.at
    base = f"{directory}/{name}"
    return max([sentinel_files.modified_ns(f"{base}.{suffix}") or 0 for suffix in sentinel.SUFFIXES]) / 1e9


def list_archived_names(directory: str) -> list[str]:
    shelf = f"{directory}/archive"
    try:
        found = [] if os.path.islink(shelf) else os.listdir(shelf)
    except OSError:
        return []
    return sorted(name for name in found if not names.find_problem(name))


def list_archived_runs(directory: str, name: str) -> list[ArchivedRun]:
    """Newest first."""
    found = []
    for base in sentinel_files.list_archives(directory, name):
        box = os.path.dirname(base)
        if os.path.islink(box) or os.path.islink(os.path.dirname(box)):
            continue
        record = None
        with contextlib.suppress(FormatError):
            text = sentinel_files.read(f"{base}.json")
            record = sentinel.decode_record(text) if text else None
        found.append(ArchivedRun(box, record, ended_at(box, name, record)))
    return found


def remove_archived_run(run: ArchivedRun) -> int:
    """Bytes that this frees. Raises OSError."""
    freed = measure_tree(run.path)
    remove_tree(run.path)
    with contextlib.suppress(OSError):  # earlier ones are still there
        os.rmdir(os.path.dirname(run.path))
    return freed


def measure_job(directory: str, name: str) -> int:
    """Bytes of a job's own files."""
    freed = measure_tree(drop_box.box_path(directory, name))
    for suffix in ORDER:
        with contextlib.suppress(OSError):
            freed += os.lstat(f"{directory}/{name}.{suffix}").st_size
    return freed


def remove_job(directory: str, name: str) -> int:
    """Bytes that this frees. Raises OSError; what is there then is a job that has ended."""
    freed = measure_job(directory, name)
    box = drop_box.box_path(directory, name)
    if os.path.isdir(box) and not os.path.islink(box):
        remove_tree(box)
    for suffix in ORDER:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{directory}/{name}.{suffix}")
    return freed


def has_mail(directory: str, name: str) -> bool:
    """Whether mail waits in the drop box to be taken in."""
    try:
        entries = os.listdir(drop_box.box_path(directory, name))
    except OSError:
        return False
    return any(entry.rpartition(".")[2] in drop_box.MAIL for entry in entries)


def measure_tree(path: str) -> int:
    freed = 0
    for folder, _, files in os.walk(path):  # it follows no links
        for file in files:
            with contextlib.suppress(OSError):
                freed += os.lstat(f"{folder}/{file}").st_size
    return freed
