"""Reading the files of one sentinel directory, which may be another's."""

import os

from dogwatch.formats import names
from dogwatch.lean import open_plain
from dogwatch.model.errors import FormatError

LARGEST = 64 * 1024 * 1024


def read(path: str) -> str | None:
    """Text of a file, None when there is none. Links, pipes and other traps raise FormatError."""
    try:
        fd = open_plain(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if os.path.islink(path):
            raise FormatError(f"{os.path.basename(path)} is a symbolic link; it is not followed") from error
        raise FormatError(f"{os.path.basename(path)} cannot be read: {error.strerror}") from error
    try:
        parts = [os.read(fd, min(os.fstat(fd).st_size, LARGEST) + 1)]
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
    parts = [entry.rpartition(".") for entry in os.listdir(directory)]
    return sorted(name for name in {name for name, _, suffix in parts if suffix in telling} if not names.problem(name))


def archived(directory: str, name: str) -> list[str]:
    """Where the files of earlier runs of a name are, newest first, each without its suffix."""
    shelf = f"{directory}/archive/{name}"
    try:
        return [f"{shelf}/{box}/{name}" for box in sorted(os.listdir(shelf), reverse=True)]
    except OSError:
        return []


def exists(base: str) -> bool:
    return any(os.path.lexists(f"{base}.{suffix}") for suffix in ("json", "pid", "status", "heartbeat"))
