"""Leases of conversations: two agents that write to one conversation spoil it.

A lease is a lock on a file that the agent inherits: it is free only when the last process of that conversation is
gone, whoever was killed. The id of a conversation may be known only after its agent was started; then the lock is held
under the name of the run, and gets its second name later. Leases are the user's, as conversations are.
"""

from __future__ import annotations

import contextlib
import os
import time

from midwatch.config import paths, sentinel_files
from midwatch.system import file_locks, procfs
from midwatch.system.atomic_files import write_atomic

KEPT = 86400.0
"""Seconds after which a lease that nobody holds is swept away."""


def create_lease(run: str) -> int:
    """A lease for a conversation that has no name yet."""
    with file_locks.ExclusiveLock(_names_lock_path()):
        _remove_old_leases()
        fd = file_locks.acquire(_lease_path(run))
        assert fd is not None  # no other run has its name
        return fd


def acquire_lease(agent: str, conversation: str, spare: tuple[str, ...]) -> int | None:
    """The lease of a conversation; None while another holds it.

    A daemon that serves all sessions of an agent may have inherited it from one that has ended; it holds nothing.
    """
    path = _lease_path(f"{agent}-{conversation}")
    with file_locks.ExclusiveLock(_names_lock_path()):
        _remove_old_leases()
        return file_locks.acquire(path) if _remove_if_free(path, spare) else None


def rename_lease(now: str, agent: str, conversation: str, spare: tuple[str, ...]) -> bool:
    """Make a lease known under a conversation. False: another's has that name and is held.

    ``now`` is what it is called so far: the run, or agent and conversation.
    """
    path, own = _lease_path(f"{agent}-{conversation}"), _lease_path(now)
    with file_locks.ExclusiveLock(_names_lock_path()), contextlib.suppress(FileNotFoundError):
        if os.path.exists(path) and not os.path.samefile(path, own) and not _remove_if_free(path, spare):
            return False
        os.rename(own, path)
    return True


def find_holders(agent: str, conversation: str, spare: tuple[str, ...]) -> list[int]:
    """Processes that hold a conversation, those that serve all sessions left out."""
    path = _lease_path(f"{agent}-{conversation}")
    return [pid for pid in find_openers(path) if not procfs.is_shared(pid, spare)] if os.path.exists(path) else []


def find_openers(path: str) -> list[int]:
    """Processes that have a file open, as far as they may be looked at."""
    try:
        meant = os.stat(path)
    except FileNotFoundError:
        return []
    found = map(int, filter(str.isdigit, os.listdir("/proc")))
    return [pid for pid in found if _has_open(pid, (meant.st_dev, meant.st_ino))]


def _has_open(pid: int, meant: tuple[int, int]) -> bool:
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found = os.stat(f"/proc/{pid}/fd/{fd}")
                if (found.st_dev, found.st_ino) == meant:
                    return True
    except OSError:
        pass
    return False


# The id, once it is known -------------------------------------------------------------------------------------------


def read_conversation(base: str, run: str) -> str:
    """The conversation that was learned of a run; empty where none was."""
    text = sentinel_files.read(f"{base}.conversation") or ""
    whose, _, conversation = text.strip().partition(" ")
    return conversation if whose == run else ""


def write_conversation(base: str, run: str, conversation: str) -> None:
    write_atomic(f"{base}.conversation", f"{run} {conversation}\n")


def _lease_path(of: str) -> str:
    return f"{_lease_directory()}/{of.replace('/', '_')}.lock"


def _lease_directory() -> str:
    found = f"{paths.state_root()}/leases"
    paths.make_private(found)
    return found


def _names_lock_path() -> str:
    """One at a time looks at names and gives them."""
    return f"{_lease_directory()}/.names"


def _remove_if_free(path: str, spare: tuple[str, ...]) -> bool:
    """Whether nobody who counts holds a lease any more; then it is gone. To be asked alone."""
    if _is_held(path):
        found = find_openers(path)
        if not all(procfs.is_shared(pid, spare) for pid in found) or (not found and _is_held(path)):
            return False  # whoever holds it and cannot be seen counts
    os.unlink(path)
    return True


def _is_held(path: str) -> bool:
    fd = file_locks.open_lock_file(path)
    try:
        return not file_locks.try_lock(fd)
    finally:
        os.close(fd)


def _remove_old_leases() -> None:
    """Remove what conversations of long ago left. To be done alone."""
    for entry in os.scandir(_lease_directory()):
        with contextlib.suppress(OSError):
            if entry.name.endswith(".lock") and entry.stat().st_mtime < time.time() - KEPT and not _is_held(entry.path):
                os.unlink(entry.path)
