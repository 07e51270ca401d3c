"""What is still to be delivered, and what was told already: ``outbox/`` in a sentinel directory.

``<id>.json`` is one notice for one channel; it is removed once it was delivered, or given up. Whoever delivers one
holds a lock on it, so no two do, and writes down that he tries before he does: of a process that was killed in between,
the next one knows that it tried. ``told/<name>.<run>`` says what was told of a run. ``reports/`` and ``unsent/`` hold
what is not in here yet (`unsent`). ``.due`` says when a sender has something to do next. All of it may be removed at
any time; then something may be told twice, or not at all.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import time

from midwatch.config import paths, sentinel_files
from midwatch.core import names
from midwatch.core.errors import FormatError, RefusedError
from midwatch.jobs.codec import sentinel
from midwatch.notifications import pending_runs
from midwatch.notifications.codec import outbox_file
from midwatch.notifications.model import Change, Notification, NotificationState
from midwatch.system import due_time, file_locks, procfs
from midwatch.system.atomic_files import open_plain, write_all, write_atomic

TOLERANCE = 0.5
"""Seconds by which a due time may be off."""
FORGOTTEN = 2 * 86400.0
"""Seconds after which nobody needs to know what was told of a run that is not the newest of its name."""
LARGEST = 1 << 16
OVER = "it was over before it could be delivered"
DUE = ".due"
"""When a sender has something to do next, and what was pending when that was reckoned."""


def prepare_outbox(directory: str) -> None:
    """Make a directory ready for notices, or say why it cannot be."""
    paths.prepare_directory(directory)
    try:
        paths.make_private(f"{directory}/outbox/told")
    except OSError as error:
        raise RefusedError(f"cannot write to {directory}/outbox: {error.strerror}") from error
    for part in ("outbox", "outbox/told"):
        if os.path.islink(f"{directory}/{part}"):
            raise RefusedError(f"{directory}/{part} is a symbolic link; remove it and try again")


def hold_outbox(directory: str) -> file_locks.ExclusiveLock:
    """Nobody else decides meanwhile what is to be told."""
    return file_locks.ExclusiveLock(f"{directory}/outbox/.lock")


def acquire_retry_lease(directory: str) -> int | None:
    """The right to stay and try again: a descriptor to be closed, None while another has it."""
    return file_locks.acquire(f"{directory}/outbox/.attendant")


# What was told


def state_path(directory: str, name: str, run: str) -> str:
    return f"{directory}/outbox/told/{_encode_name(name)}.{_encode_name(run).replace('.', '_')}"


def read_state(directory: str, name: str, run: str) -> NotificationState:
    """What was told of this run so far."""
    text = None
    with contextlib.suppress(FormatError):
        text = sentinel_files.read(state_path(directory, name, run))
    try:
        return NotificationState() if text is None else outbox_file.decode_state(text)
    except FormatError:
        return NotificationState()


def write_state(directory: str, change: Change, found: NotificationState) -> None:
    write_atomic(state_path(directory, change.name, change.about.run), outbox_file.encode_value(found))


def remove_old_states(directory: str) -> None:
    """Remove what was told of runs that nobody can ask about any more."""
    folder = f"{directory}/outbox/told"
    for file in _list_entries(folder):
        name, _, run = file.rpartition(".")
        with contextlib.suppress(OSError, FormatError):
            if time.time() - os.lstat(f"{folder}/{file}").st_mtime > FORGOTTEN:
                text = sentinel_files.read(f"{directory}/{name}.json")
                if text is None or sentinel.decode_record(text).run != run:
                    os.unlink(f"{folder}/{file}")


def _encode_name(word: str) -> str:
    """As part of a file's name: panes are called %3."""
    return "".join([c if c in names.PLAIN else "_" for c in word[: names.LONGEST]]) or "_"


# What watchers report


def write_report(directory: str, change: Change) -> str:
    """Keep what a watcher saw until somebody has taken it in. Returns its name; OSError when it cannot be written."""
    paths.make_private(f"{directory}/{pending_runs.REPORTS}")
    name = f"{time.time_ns():x}-{os.urandom(3).hex()}.json"
    write_atomic(f"{directory}/{pending_runs.REPORTS}/{name}", outbox_file.encode_value(change))
    return name


def read_reports(directory: str) -> list[tuple[str, Change]]:
    """All that watchers have reported, in the order of their looks. What cannot be read is removed."""
    found: list[tuple[str, Change]] = []
    for name in pending_runs.list_reports(directory):
        try:
            if text := sentinel_files.read(f"{directory}/{pending_runs.REPORTS}/{name}"):
                found.append((name, outbox_file.decode_change(text)))
        except FormatError:
            pending_runs.drop_report(directory, name)
    return sorted(found, key=lambda each: each[1].at)


# What is to be delivered


def add_notification(directory: str, notice: Notification) -> None:
    """Put a notice into the outbox, unless it is there already."""
    path = f"{directory}/outbox/{notice.id}.json"
    if not os.path.lexists(path):
        write_atomic(path, outbox_file.encode_value(notice))


def is_recorded(directory: str, notice: Notification) -> bool:
    """Whether what it tells is noted as told: until then whoever was killed may still be heard, and files it anew."""
    return notice.number <= read_state(directory, notice.name, notice.run).number


def list_pending(directory: str) -> list[Notification]:
    """All that is still to be delivered, oldest first. What cannot be read is passed over."""
    found: list[Notification] = []
    for entry in _list_entries(f"{directory}/outbox"):
        with contextlib.suppress(OSError, FormatError):
            if entry.endswith(".json"):
                found.append(_read_notification(f"{directory}/outbox/{entry}")[0])
    return sorted(found, key=lambda notice: (notice.filed, notice.id))


def write_due_time(directory: str, rest: float | None) -> None:
    """Note in how many seconds a sender has something to do; None: never. Unchanged if that is known already."""
    path, names = f"{directory}/outbox/{DUE}", _hash_names(directory)
    before = due_time.read_due_time(path, procfs.boot_id())
    if rest is None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    elif before is None or before[1] != names or abs(before[0] - rest) > TOLERANCE:
        write_atomic(path, due_time.format_due_time(rest, procfs.boot_id(), names))


def is_due_time_current(directory: str) -> bool:
    """Whether nothing has come into the outbox, and nothing has left it, since the due time was noted."""
    known = due_time.read_due_time(f"{directory}/outbox/{DUE}", procfs.boot_id())
    return (known[1] if known else _hash_names(directory, ())) == _hash_names(directory)


def _hash_names(directory: str, entries: tuple[str, ...] | None = None) -> str:
    found = _list_entries(f"{directory}/outbox") if entries is None else entries
    names = sorted(entry for entry in found if entry.endswith(".json"))
    return hashlib.sha256("\0".join(names).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def _list_entries(folder: str) -> list[str]:
    try:
        return [entry for entry in os.listdir(folder) if not entry.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise RefusedError(f"cannot read {folder}: {error.strerror}") from error


def _read_notification(path: str, *, keep: bool = False) -> tuple[Notification, int]:
    fd = open_plain(path)
    try:
        found = outbox_file.decode_notification(os.pread(fd, LARGEST, 0).decode("utf-8", "replace"))
        if found.id != os.path.basename(path).removesuffix(".json"):
            raise FormatError(f"{path} holds another notice")  # noqa: TRY301  # as all that is wrong with it
        if keep:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(fd).st_ino != os.lstat(path).st_ino:
                raise FormatError(f"{path} was written anew")  # noqa: TRY301  # by whoever held it until now
    except BaseException:
        os.close(fd)
        raise
    if not keep:
        os.close(fd)
    return found, fd


class HeldNotification:
    """A notice that is ours to deliver."""

    def __init__(self, directory: str, notice: Notification, fd: int) -> None:
        self.path = f"{directory}/outbox/{notice.id}.json"
        self.notice = notice
        self.fd = fd

    def write(self, notice: Notification) -> None:
        """Replace it; the new file is locked before anyone can see it."""
        temporary = f"{os.path.dirname(self.path)}/.{notice.id}.{os.getpid()}"
        fd = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            write_all(fd, outbox_file.encode_value(notice).encode())
            os.rename(temporary, self.path)
        except OSError:
            os.close(fd)
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        os.close(self.fd)
        self.notice, self.fd = notice, fd

    def remove(self) -> None:
        os.unlink(self.path)

    def close(self) -> None:
        os.close(self.fd)


def hold_notification(directory: str, notice: Notification) -> HeldNotification | None:
    """Take a notice for delivery; None when another has it, or has delivered it."""
    try:
        found, fd = _read_notification(f"{directory}/outbox/{notice.id}.json", keep=True)
    except (OSError, FormatError):
        return None
    return HeldNotification(directory, found, fd)
