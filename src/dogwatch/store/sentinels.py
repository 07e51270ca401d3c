"""Reading and writing the files of one sentinel directory."""

import contextlib
import fcntl
import os
import stat

from dogwatch.formats import names
from dogwatch.formats.sentinel import SUFFIXES
from dogwatch.lean import write_atomic
from dogwatch.model.errors import FormatError, RefusedError

LARGEST = 64 * 1024 * 1024
KEEP_RUNS = 10


def read(path: str) -> str | None:
    """Text of a file, None when there is none. Links, pipes and other traps raise FormatError."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        if os.path.islink(path):
            raise FormatError(f"{os.path.basename(path)} is a symbolic link; it is not followed") from error
        raise FormatError(f"{os.path.basename(path)} cannot be read: {error.strerror}") from error
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise FormatError(f"{os.path.basename(path)} is not a regular file")
        parts = [os.read(fd, min(found.st_size, LARGEST) + 1)]
        while parts[-1] and sum(map(len, parts)) < LARGEST:
            parts.append(os.read(fd, 1 << 20))
        return b"".join(parts).decode("utf-8", "replace")
    except OSError as error:
        raise FormatError(f"{os.path.basename(path)} cannot be read: {error.strerror}") from error
    finally:
        os.close(fd)


def jobs(directory: str) -> list[str]:
    """Names of all jobs in a directory, in order. A log or a lock alone is no job."""
    telling = {"json", "pid", "status", "heartbeat"}
    found = set()
    with os.scandir(directory) as entries:
        for entry in entries:
            name, dot, suffix = entry.name.rpartition(".")
            if dot and suffix in telling and not names.problem(name):
                found.add(name)
    return sorted(found)


def exists(base: str) -> bool:
    return any(os.path.lexists(f"{base}.{suffix}") for suffix in ("json", "pid", "status", "heartbeat"))


def refuse_links(base: str) -> None:
    """A link planted where we are about to write would lead our output elsewhere."""
    for suffix in (*SUFFIXES, "lock"):
        if os.path.islink(f"{base}.{suffix}"):
            raise RefusedError(f"{base}.{suffix} is a symbolic link; remove it and try again")


def lock(base: str) -> int | None:
    """Take the lease of a name: a file descriptor to hold or inherit, None while another holds it."""
    fd = os.open(f"{base}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def archive(directory: str, name: str) -> None:
    """Move away what an earlier run of this name left, status first, so that it can complete no new one."""
    base = f"{directory}/{name}"
    present = [suffix for suffix in ("status", *SUFFIXES) if os.path.lexists(f"{base}.{suffix}")]
    if not present:
        return
    shelf = f"{directory}/archive/{name}"
    os.makedirs(shelf, 0o700, exist_ok=True)
    kept = sorted(os.listdir(shelf))
    number = int(kept[-1]) + 1 if kept and kept[-1].isdigit() else 1
    box = f"{shelf}/{number:06d}"
    os.mkdir(box, 0o700)
    for suffix in dict.fromkeys(present):
        os.rename(f"{base}.{suffix}", f"{box}/{name}.{suffix}")
    for old in kept[: max(0, len(kept) + 1 - KEEP_RUNS)]:
        _remove(f"{shelf}/{old}")


def _remove(box: str) -> None:
    with contextlib.suppress(OSError):
        for entry in os.listdir(box):
            os.unlink(f"{box}/{entry}")
        os.rmdir(box)


def write(path: str, text: str) -> None:
    write_atomic(path, text, durable=True)
