"""The files of breakers: ``breakers/<key>.jsonl``, which only grows, its lock, and a bookmark in it.

Shims append to it without the lock, one line in one write; everybody else holds the lock. The bookmark is a shortcut:
it holds what followed from all that stands before it, and whoever finds it missing or wrong reads from the beginning.
"""

from __future__ import annotations

import errno
import os
import zlib

from midwatch.breaker import codec as breaker_codec
from midwatch.breaker.codec import Bookmark
from midwatch.breaker.model import Closed, Happening, Ledger, Tripped
from midwatch.config import paths, sentinel_files
from midwatch.core import names
from midwatch.core.errors import FormatError, RefusedError
from midwatch.core.value import Value
from midwatch.system import file_locks
from midwatch.system.atomic_files import open_plain, write_atomic

PATIENCE = 10.0
"""Seconds to wait for whoever is starting a job under the same key."""
FAR = 32 * 1024
"""Bytes after which it is worth setting a new bookmark."""
LARGEST = 64 * 1024 * 1024
"""Bytes that are read at most, where no bookmark helps: some hundred thousand runs."""
CHECKED = 256


class BreakerFile(Value):
    """What stands in a breaker's file."""

    before: Ledger
    """What followed from the part that was not read again."""
    happened: list[Happening]
    wrong: list[str]
    """What is wrong with lines that were passed over."""
    start: int = 0
    upto: int = 0
    """Bytes: where reading began, and the end of the last whole line."""
    check: int = 0


def prepare(directory: str) -> None:
    """Make a directory ready for breakers, or say why it cannot be."""
    paths.prepare_directory(directory)
    path = f"{directory}/breakers"
    try:
        paths.make_private(path)
    except OSError as error:
        raise RefusedError(f"cannot write to {path}: {error.strerror}; choose another with --dir") from error
    if os.path.islink(path):
        raise RefusedError(f"{path} is a symbolic link; remove it and try again")


def list_keys(directory: str) -> list[str]:
    try:
        found = os.listdir(f"{directory}/breakers")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise RefusedError(f"cannot read {directory}/breakers: {error.strerror}") from error
    stems = [name.removesuffix(".jsonl") for name in found if name.endswith(".jsonl")]
    return sorted(key for key in stems if not names.find_problem(key))


def lock(directory: str, key: str) -> int:
    """Be the only one to let work through under a key, until the descriptor is closed."""
    path = f"{directory}/breakers/{key}.lock"
    try:
        fd = file_locks.acquire(path, PATIENCE)
    except OSError as error:
        raise RefusedError(f"cannot write {path}: {error.strerror}") from error
    if fd is not None:
        return fd
    words = f"someone has been starting a job under breaker {key} for {PATIENCE:g}s"
    raise RefusedError(f"{words}; try again, or look who holds {path}")


def read(directory: str, key: str, threshold: int) -> BreakerFile:
    """What stands in the file; nothing when there is none. FormatError where that cannot be known."""
    path = f"{directory}/breakers/{key}.jsonl"
    try:
        fd = open_plain(path)
    except (FileNotFoundError, NotADirectoryError):
        return BreakerFile(Ledger(), [], [])
    except OSError as error:
        raise FormatError(f"{path} cannot be read ({error.strerror}), so breaker {key} says nothing") from error
    try:
        mark = _read_bookmark(directory, key, threshold, fd) or Bookmark(0, 0, threshold, Ledger())
        data = _read_from(fd, mark.upto)
        if len(data) > LARGEST:
            raise FormatError(f"{path} is larger than any breaker makes it; remove it, which also closes breaker {key}")
        happened, wrong = breaker_codec.decode_lines(data)
        upto = mark.upto + data.rfind(b"\n") + 1
        return BreakerFile(mark.ledger, happened, wrong, mark.upto, upto, _check_prefix(fd, upto))
    except OSError as error:
        raise FormatError(f"{path} cannot be read ({error.strerror}), so breaker {key} says nothing") from error
    finally:
        os.close(fd)


def _read_from(fd: int, offset: int) -> bytes:
    parts: list[bytes] = []
    while (size := sum(map(len, parts))) <= LARGEST and (part := os.pread(fd, 1 << 20, offset + size)):
        parts.append(part)
    return b"".join(parts)


def _read_bookmark(directory: str, key: str, threshold: int, fd: int) -> Bookmark | None:
    try:
        text = sentinel_files.read(f"{directory}/breakers/{key}.mark")
        mark = breaker_codec.decode_bookmark(text) if text else None
    except FormatError:
        return None
    if mark is None or mark.check != _check_prefix(fd, mark.upto):
        return None
    whatever = mark.ledger.state == Closed() or isinstance(mark.ledger.state, Tripped)
    # From a row of failures another state follows with another threshold.
    return mark if whatever or mark.threshold == threshold else None


def _check_prefix(fd: int, upto: int) -> int:
    size = min(upto, CHECKED)
    found = os.pread(fd, size, upto - size)
    return zlib.crc32(found) if len(found) == size else -1


def write_bookmark(directory: str, key: str, reading: BreakerFile, threshold: int, ledger: Ledger) -> None:
    """Spare the next ones what we have read, if it was much. Only what stands in the file may be in the ledger."""
    if reading.upto - reading.start >= FAR:
        mark = Bookmark(reading.upto, reading.check, threshold, ledger)
        try:
            write_atomic(f"{directory}/breakers/{key}.mark", breaker_codec.encode_bookmark(mark) + "\n")
        except OSError:
            pass  # it is only a shortcut


def append(directory: str, key: str, *happened: Happening, lasting: bool = False) -> None:
    """Write down what happened; OSError when it could not be. A line that someone left torn is ended first."""
    path = f"{directory}/breakers/{key}.jsonl"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(fd).st_size
        torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
        for each in happened:
            data = (("\n" if torn else "") + breaker_codec.encode_happening(each)).encode()
            torn = os.write(fd, data) != len(data)
            if torn:
                raise OSError(errno.ENOSPC, "no space left for a whole line", path)
        if lasting:
            os.fsync(fd)
    finally:
        os.close(fd)
