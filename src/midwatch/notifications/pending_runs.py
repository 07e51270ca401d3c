"""Runs whose end must still be sent: ``outbox/unsent/<name>.<run>``, one empty file each.

A shim makes it before its work runs. So nothing has to be written at the end to know that there is something to send,
whatever has become of the disk by then and whoever was killed; what it is follows from the record. Whoever has noted
the end as told removes it. ``outbox/reports`` holds changes that watchers saw and that nobody has taken in yet.

Every verb looks in here, so this loads next to nothing.
"""

from __future__ import annotations

import os

from midwatch.config import sentinel_files
from midwatch.core import names
from midwatch.core.errors import FormatError
from midwatch.jobs.codec import sentinel
from midwatch.system import due_time, file_locks, procfs
from midwatch.system.atomic_files import UNSENT

REPORTS = "outbox/reports"


def list_runs(directory: str) -> list[tuple[str, str]]:
    """Name and run of each, oldest run first."""
    found = [entry.rpartition(".")[::2] for entry in _list_entries(f"{directory}/{UNSENT}")]
    good = [(name, run) for name, run in found if not names.find_problem(name) and not names.find_problem(run)]
    return sorted(good, key=lambda each: each[1])


def list_reports(directory: str) -> list[str]:
    return [entry for entry in _list_entries(f"{directory}/{REPORTS}") if entry.endswith(".json")]


def list_directories_due(directory: str) -> list[str]:
    """What is probably to be sent: runs that have ended or are stuck, and reports. For whoever comes by."""
    found = list_runs(directory)
    newest = dict(found)
    due = [run for name, run in found if _is_due(directory, name, run, newest=newest[name] == run)]
    return due + list_reports(directory)


def is_delivery_due(directory: str) -> bool:
    """Whether the outbox holds something that is due by now, and nobody stays to send it."""
    path = f"{directory}/outbox/.due"
    due = due_time.read_due_time(path, procfs.boot_id()) if os.path.lexists(path) else None
    return due is not None and due[0] <= 0 and file_locks.is_free(f"{directory}/outbox/.attendant")


def drop_run(directory: str, name: str, run: str) -> None:
    """There is nothing more to send of a run."""
    _unlink(f"{directory}/{UNSENT}/{name}.{run}")


def drop_report(directory: str, report: str) -> None:
    _unlink(f"{directory}/{REPORTS}/{report}")


def acquire_retry_lease(directory: str) -> int | None:
    """The right to stay until the directory can be written: a descriptor to be closed, None while another has it."""
    try:
        fd = os.open(f"{directory}/{UNSENT}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        ours = file_locks.try_lock(fd)  # a lock needs no room on a disk
    except OSError:
        ours = False
    if not ours:
        os.close(fd)
        return None
    return fd


def is_retry_running(directory: str) -> bool:
    return not file_locks.is_free(f"{directory}/{UNSENT}")


def _is_due(directory: str, name: str, run: str, *, newest: bool) -> bool:
    """Whether a run has ended, or is stuck and nobody was told. Records are read only of those that may have ended."""
    base = f"{directory}/{name}"
    if not newest or os.path.lexists(f"{base}.status"):
        return True
    try:
        if not file_locks.is_free(f"{base}.lock"):
            told = sentinel_files.read(f"{directory}/outbox/told/{name}.{run}") or ""
            return '"stuck": true' in (sentinel_files.read(f"{base}.seen") or "") and '"state": "stuck"' not in told
        text = sentinel_files.read(f"{base}.json")
        work = sentinel.decode_record(text).work if text else None
    except FormatError:
        return True
    return work is None or work.boot != procfs.boot_id() or not _is_alive(work.pid, work.start)


def _is_alive(pid: int, start: int) -> bool:
    """Whether work that has lost its shim is still there."""
    try:
        fields = procfs.stat_fields(pid)
        return fields[0] not in "ZX" and int(fields[19]) == start
    except (OSError, ValueError):
        return False


def _list_entries(folder: str) -> list[str]:
    try:
        return sorted([entry for entry in os.listdir(folder) if not entry.startswith(".")])
    except OSError:
        return []


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass  # whoever comes by finds that there is nothing to send
