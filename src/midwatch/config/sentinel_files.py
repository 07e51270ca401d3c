"""Reading the files of one sentinel directory, which may be another's."""

import os

from midwatch.core import names
from midwatch.core.errors import FormatError
from midwatch.system.atomic_files import open_plain, read_all

LARGEST = 64 * 1024 * 1024


def read(path: str, most: int = LARGEST) -> str | None:
    """Text of a file, None when there is none. Links, pipes, files without end and other traps raise FormatError."""
    found = read_dated(path, most)
    return None if found is None else found[0]


def read_dated(path: str, most: int = LARGEST) -> tuple[str, int] | None:
    """As ``read``, with the time of the file (ns). The text may be newer than that, never older."""
    try:
        fd = open_plain(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if os.path.islink(path):
            raise FormatError(f"{os.path.basename(path)} is a symbolic link; it is not followed") from error
        raise FormatError(f"{os.path.basename(path)} cannot be read: {error.strerror}") from error
    try:
        about = os.fstat(fd)
        return read_all(fd, most).decode("utf-8", "replace"), about.st_mtime_ns
    except OSError as error:
        raise FormatError(f"{os.path.basename(path)} cannot be read: {error.strerror}") from error
    finally:
        os.close(fd)


def list_jobs(directory: str) -> list[str]:
    """Names of all jobs in a directory, in order. A log or a lock alone is no job."""
    telling = {"json", "pid", "status", "heartbeat"}
    parts = [entry.rpartition(".") for entry in os.listdir(directory)]
    found = {name for name, _, suffix in parts if suffix in telling}
    return sorted(name for name in found if not names.find_problem(name, blanks=True))


def modified_ns(path: str) -> int | None:
    """When a file was last written (ns); None where there is none, or a link."""
    try:
        return os.stat(path, follow_symlinks=False).st_mtime_ns
    except OSError:
        return None


def list_archives(directory: str, name: str) -> list[str]:
    """Where the files of earlier runs of a name are, newest first, each without its suffix."""
    shelf = f"{directory}/archive/{name}"
    try:
        return [f"{shelf}/{box}/{name}" for box in sorted(os.listdir(shelf), reverse=True)]
    except OSError:
        return []


def is_job(base: str) -> bool:
    return any(os.path.lexists(f"{base}.{suffix}") for suffix in ("json", "pid", "status", "heartbeat"))
