"""The registry's file: found, read, and changed by one at a time.

It belongs to people and other programs too. So it is read anew whenever it has changed, a writer decides on what stands
in it at that moment, and what was there before stays beside it as ``.bak``.
"""

from __future__ import annotations

import contextlib
import os
import time

from midwatch.config import paths
from midwatch.core.errors import FormatError, RefusedError
from midwatch.core.text import visible
from midwatch.registry import socket_trust
from midwatch.registry.codec.registry_file import NEW, RegistryText
from midwatch.registry.model import Change, Registry
from midwatch.system import file_locks
from midwatch.system.atomic_files import open_plain, read_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

HERMES = ".hermes"
PLACES = (f"{HERMES}/agent-sessions.yaml", "midwatch-sessions.yaml")
PATIENCE = 10.0
"""Seconds to wait for whoever is writing."""
RACY = 0.1
"""Seconds after a change in which another one might leave the file's time and size as they are."""
LARGEST = 4 << 20

Stamp = tuple[int, int, int, int]
"""Device, inode, size and time of a file: another stamp is another text."""


def find_registry(given: str | None, start: str) -> str:
    """The registry meant: the one given, else the nearest one upwards from $WORKSPACE_ROOT, or from a directory."""
    if given:
        return os.path.abspath(given)
    begin = os.path.realpath(os.environ.get("WORKSPACE_ROOT") or start)
    if not (found := nearest_registry(begin)):
        words = f"there is no {' or '.join(PLACES)} in {visible(begin)} or above it"
        raise RefusedError(f"{words}; `midwatch session create` makes one, or name it with --registry")
    return found


def nearest_registry(start: str) -> str:
    """The registry of a directory or of the nearest one above it that has one; empty where none has."""
    here = start
    while True:
        for place in PLACES:
            mine = not paths.is_planted(os.path.join(here, place.partition("/")[0]))
            if mine and os.path.lexists(path := os.path.join(here, place)):
                return path
        parent = os.path.dirname(here)
        if parent == here:
            return ""
        here = parent


def registry_workspace(path: str) -> str:
    """The directory that a registry is for."""
    directory = os.path.dirname(os.path.abspath(path))
    return os.path.realpath(os.path.dirname(directory) if os.path.basename(directory) == HERMES else directory)


class RegistryFile:
    """One registry. Where its name is a link, the file that it leads to is meant, read and written."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.changed = 0.0
        """When the file was last changed, as of the last reading; in wall-clock seconds."""
        self._stamp: Stamp | None = None
        self._data = b""
        self._registry: Registry | None = None

    def read(self) -> Registry:
        """The rows; taken apart again only where the file has changed."""
        try:
            found = os.stat(self.path)
        except OSError as error:
            raise self._unreadable(error) from error
        if self._registry is not None and self._stamp == _file_stamp(found):
            return self._registry
        data, found = self._load()
        if self._registry is None or data != self._data:
            self._registry = RegistryText(self._decoded(data), self.path).registry
        self._keep(data, found)
        return self._registry

    def update(
        self,
        decide: Callable[[Registry], Sequence[Change]],
        *,
        create: bool = False,
        refused: list[tuple[Change, FormatError]] | None = None,
    ) -> tuple[Change, ...]:
        """Change the file: nobody else writes meanwhile, and what is decided on is what stands in it now.

        Gives the changes that were written; none where nothing was to be changed. What fails leaves the file as it was.
        With ``refused``, changes that cannot be made are put there, and the others are made.
        """
        real, deadline = os.path.realpath(self.path), time.monotonic() + PATIENCE
        lock = self._lock(real, deadline)
        try:
            while True:
                changes = self._attempt(real, decide, refused, create=create)
                if changes is not None:
                    return changes
                if time.monotonic() >= deadline:
                    raise RefusedError(f"{visible(self.path)} is being changed all the time; try again")
        except OSError as error:
            raise RefusedError(
                f"cannot write {visible(self.path)}: {error.strerror}; mend that, then try again"
            ) from error
        finally:
            os.close(lock)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody who asks for the lock writes meanwhile. RefusedError where it cannot be had."""
        lock = self._lock(os.path.realpath(self.path), time.monotonic() + PATIENCE)
        try:
            yield
        finally:
            os.close(lock)

    def _attempt(
        self,
        real: str,
        decide: Callable[[Registry], Sequence[Change]],
        refused: list[tuple[Change, FormatError]] | None,
        *,
        create: bool,
    ) -> tuple[Change, ...] | None:
        """None: somebody who asks for no lock has changed the file since it was read."""
        if new := create and not os.path.lexists(real):
            data, found = NEW.encode(), None
        else:
            data, found = self._load()
        before = RegistryText(self._decoded(data), self.path)
        changes = tuple(decide(before.registry))
        try:
            after = before.apply(changes)
        except FormatError:
            if refused is None:
                raise
            fine, refused[:] = before.possible(changes)
            changes = tuple(fine)
            after = before.apply(changes)
        if after.text == before.text:
            return ()
        if found is not None:
            self._check_may_write(real, found)
            _write(f"{real}.bak", data, found)
        temporary = _write_new_file(real, after.text.encode(), found)
        if os.path.lexists(real) if new else found is None or _file_stamp(os.stat(real)) != _file_stamp(found):
            os.unlink(temporary)
            return None
        _rename(temporary, real)
        _sync_directory(real)
        socket_trust.update_trust(
            self.path, *(socket_trust.named_sockets(each.registry.rows) for each in (before, after))
        )
        self._registry = after.registry
        self._keep(after.text.encode(), os.stat(real))
        return changes

    def _load(self) -> tuple[bytes, os.stat_result]:
        """What stands in the file, and its state from before that was read."""
        try:
            fd = open_plain(self.path, follow=True)
            try:
                found = os.fstat(fd)
                return read_all(fd, LARGEST), found
            finally:
                os.close(fd)
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError) -> RefusedError:
        hint = "name it with --registry" if isinstance(error, FileNotFoundError) else "mend that, then try again"
        return RefusedError(f"cannot read {visible(self.path)}: {error.strerror}; {hint}")

    def _decoded(self, data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise FormatError(f"{visible(self.path)}:{line}: not UTF-8; save it as UTF-8") from error

    def _keep(self, data: bytes, found: os.stat_result) -> None:
        # A file that has just been changed may be changed again within the same tick of its clock: read again then.
        racy = abs(time.time() - found.st_mtime) < RACY
        self._stamp, self._data, self.changed = None if racy else _file_stamp(found), data, found.st_mtime

    def _lock(self, real: str, deadline: float) -> int:
        path = f"{real}.lock"
        try:
            fd = file_locks.acquire(path, max(0.0, deadline - time.monotonic()), shared=True)
        except OSError as error:
            raise RefusedError(f"cannot write {visible(path)}: {error.strerror}; mend that, then try again") from error
        if fd is not None:
            return fd
        words = f"someone has been writing {visible(self.path)} for {PATIENCE:g}s"
        raise RefusedError(f"{words}; try again, or look who holds {visible(path)}")

    def _check_may_write(self, real: str, found: os.stat_result) -> None:
        if not os.access(real, os.W_OK):
            raise RefusedError(f"{visible(self.path)} is not for you to write; `chmod u+w` it, or ask its owner")
        if found.st_uid != os.geteuid() and os.geteuid() != 0:
            raise RefusedError(
                f"{visible(self.path)} belongs to another user, who would lose it; let its owner do this"
            )


def _file_stamp(found: os.stat_result) -> Stamp:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


# Writing: only whoever holds the lock comes here, so what a killed one left behind is in nobody's use


def _write(path: str, data: bytes, like: os.stat_result) -> None:
    _rename(_write_new_file(path, data, like), path)


def _write_new_file(path: str, data: bytes, like: os.stat_result | None) -> str:
    """The new file under another name, on the disk, with the owner and the mode that the old one has."""
    temporary = f"{os.path.dirname(path)}/.{os.path.basename(path)}.new"
    try:
        os.unlink(temporary)
    except FileNotFoundError:
        pass
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(temporary, flags, 0o600 if like else 0o666), "wb") as file:
            file.write(data)
            file.flush()
            if like is not None:
                _make_alike(file.fileno(), like)
            os.fsync(file.fileno())
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    return temporary


def _rename(temporary: str, path: str) -> None:
    try:
        os.rename(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def _make_alike(fd: int, like: os.stat_result) -> None:
    made = os.fstat(fd)
    if (made.st_uid, made.st_gid) != (like.st_uid, like.st_gid):
        os.fchown(fd, like.st_uid, like.st_gid)
    os.fchmod(fd, like.st_mode & 0o7777)


def _sync_directory(path: str) -> None:
    fd = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
