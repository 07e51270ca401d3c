"""Mail between agents: one Markdown file per message, in a directory that all worktrees of a project share.

A message is written whole, is on the disk before anybody is told of it, and is never changed. That it was read or
acknowledged is an empty file beside it. So a hundred may write at once, and nobody can lose what another wrote.
"""

from __future__ import annotations

import os
import time

from midwatch.config import paths, sentinel_files
from midwatch.core.errors import FormatError, RefusedError, UsageError
from midwatch.mail import codec
from midwatch.mail.model import Mail
from midwatch.shim import drop_box
from midwatch.system.atomic_files import open_plain

LARGEST = 4 << 20
"""Bytes of a text: what is longer is a file for others to read."""
HEADER = 1 << 16
"""Bytes before the text."""
TICK = 1e-6
"""Seconds: the finest that a header tells."""
READ, ACKED = "read", "acked"


def mail_directory(start: str, given: str | None = None) -> str:
    """Where the mail of a project is: with its jobs, and for all of its worktrees in one place. `given`: --dir."""
    return f"{paths.sentinel_directory(given, paths.main_worktree(start))}/mail"


def collect_mail(start: str, given: str | None = None) -> tuple[str, list[str]]:
    """The same, with what agents in sandboxes have sent since; and what is wrong with files that they left."""
    found = mail_directory(start, given)
    if drop_box.find_own_box():
        return found, []
    from midwatch.mail import drop_box as mail_drop_box  # noqa: PLC0415  # it uses what is below

    return found, mail_drop_box.collect_mail(found, paths.mail_directories(start, given))


def send_mail(
    place: str, *, sender: str, to: str, subject: str, text: str, topic: str = "", task: str = "", thread: str = "",
) -> Mail:  # fmt: skip
    """Put a message there; it is on the disk when this returns. `thread`: any message of the one that it goes on with.

    UsageError for names and texts that cannot be; RefusedError where the place or the thread is not to be had.
    """
    found = Mail(
        "", codec.clean_name("--from", sender), codec.clean_name("--to", to), codec.clean_field("subject", subject),
        codec.clean_field("topic", topic), "", codec.clean_field("task", task), time.time(), codec.clean_body(text),
    )  # fmt: skip
    if len(found.text.raw.encode()) > LARGEST:
        raise UsageError(f"the text is longer than {LARGEST >> 20} MB; send the path of a file instead")
    if box := drop_box.find_own_box():
        return _leave_in_box(box, found._replace(thread=codec.clean_field("thread", thread).raw))
    if thread:
        found = put_in_thread(place, found, thread)
    _prepare_directory(place)
    try:
        return write_mail(place, found)
    except OSError as error:
        raise RefusedError(f"cannot write to {place}: {error.strerror}; nothing was sent") from error


def _leave_in_box(box: str, mail: Mail) -> Mail:
    """Leave a message in the drop box, where those outside of the sandbox find it."""
    try:
        return write_mail(box, mail)
    except OSError as error:
        raise RefusedError(f"cannot write to {box}: {error.strerror}; nothing was sent") from error


def put_in_thread(place: str, mail: Mail, thread: str) -> Mail:
    """The same as part of a thread: after all that is in it, whatever the clock says."""
    begun = find_mail(place, thread).thread
    last = max(each.at for each in read_all(place)[0] if each.thread == begun)
    return mail._replace(thread=begun, at=max(mail.at, last + TICK))


def _prepare_directory(place: str) -> None:
    paths.prepare_directory(os.path.dirname(place))
    try:
        paths.make_private(place)
    except OSError as error:
        raise RefusedError(f"cannot write to {place}: {error.strerror}; choose another with --dir") from error
    _check_ownership(place)


def _check_ownership(place: str) -> None:
    """Raise RefusedError where another could have put words into somebody's mouth."""
    if os.path.islink(place):
        raise RefusedError(f"{place} is a symbolic link; remove it and try again")
    for directory in (os.path.dirname(place), place):
        if others := paths.find_sharing(directory):
            raise RefusedError(f"{others}, so that anybody could write mail there; `chmod go-w {directory}`")


def write_mail(place: str, mail: Mail) -> Mail:
    """Write it under an id of its own, which is reserved by the file that it is written to first. Raises OSError.

    An id that it has is kept, if that is free.
    """
    wanted = mail.id
    while True:
        name, wanted = wanted or codec.new_mail_id(os.urandom(codec.ID)), ""
        temporary, path = f"{place}/.{name}", f"{place}/{name}.md"
        try:
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            continue
        found = mail._replace(id=name, thread=mail.thread or name)
        try:
            taken = os.path.lexists(path)
            if not taken:
                _write_file(fd, codec.encode_mail(found).encode())
        except BaseException:
            os.unlink(temporary)
            raise
        finally:
            os.close(fd)
        if taken:
            os.unlink(temporary)
            continue
        os.rename(temporary, path)
        _sync_directory(place)
        return found


def _write_file(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]
    os.fsync(fd)


def _sync_directory(place: str) -> None:
    """Wait until the name of a new file is on the disk, too."""
    fd = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


# Reading


def read_all(place: str, *, unread: bool = False) -> tuple[list[Mail], list[str]]:
    """All messages, or those that nobody has read, oldest first; and what is wrong with files that are none."""
    names = _list_names(place)
    found: list[Mail] = []
    wrong: list[str] = []
    for name in sorted(names):
        id_, dot, suffix = name.rpartition(".")
        if not dot or suffix != "md" or (unread and _is_read(names, id_)):
            continue
        try:
            if (mail := _read(place, id_)) is not None:
                found.append(mail._replace(read=_is_read(names, id_), acked=f"{id_}.{ACKED}" in names))
        except FormatError as error:
            wrong.append(f"{place}/{name}: {error}")
    return sorted(found, key=lambda mail: (mail.at, mail.id)), wrong


def read_inbox(place: str, to: str = "", *, unread: bool = False) -> list[Mail]:
    """The messages to somebody (empty: to anybody), oldest first."""
    return [mail for mail in read_all(place, unread=unread)[0] if not to or mail.to.raw == to]


def read_unread(place: str, to: str) -> list[Mail]:
    """The messages to somebody that were neither shown nor acknowledged."""
    return read_inbox(place, to, unread=True)


def unread_ids_about(place: str, task: str) -> list[str]:
    """Ids of the messages about a task that nobody has read, whoever they are for."""
    return [mail.id for mail in read_inbox(place, unread=True) if mail.task.raw == task]


def find_mail(place: str, begins: str) -> Mail:
    """The message whose id begins so. RefusedError when there is none, or several."""
    names = _list_names(place)
    ids = sorted(name.removesuffix(".md") for name in names if name.endswith(".md"))
    fits = [begins] if begins in ids else [each for each in ids if begins and each.startswith(begins)]
    if len(fits) > 1:
        raise RefusedError(f"{len(fits)} messages begin with {begins!r}: {' '.join(fits[:10])}; give more of it")
    mail = _read(place, fits[0]) if fits else None
    if mail is None:
        raise RefusedError(f"no message {begins[: codec.LONGEST]!r} here; `midwatch mail inbox` lists them")
    return mail._replace(read=_is_read(names, mail.id), acked=f"{mail.id}.{ACKED}" in names)


def read_raw(place: str, mail: Mail) -> bytes:
    """The file of a message, as it is. RefusedError where it has gone."""
    try:
        with open(open_plain(f"{place}/{mail.id}.md"), "rb") as file:
            return file.read()
    except OSError as error:
        raise RefusedError(f"cannot read {place}/{mail.id}.md: {error.strerror}") from error


def mark_mail(where: str, id_: str, what: str = READ) -> None:
    """Note that a message was read, or acknowledged; that it was is noted once."""
    where = drop_box.find_own_box() or where
    try:
        os.close(os.open(f"{where}/{id_}.{what}", os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise RefusedError(f"cannot write to {where}: {error.strerror}; it counts as unread") from error


def _is_read(names: set[str], id_: str) -> bool:
    return f"{id_}.{READ}" in names or f"{id_}.{ACKED}" in names


def _list_names(place: str) -> set[str]:
    _check_ownership(place)
    box = drop_box.find_own_box()
    try:
        return {name for name in os.listdir(place) if not name.startswith(".")} | _box_marks(box)
    except (FileNotFoundError, NotADirectoryError):
        if box:
            why = "cannot be seen in this sandbox; mount it read-only (docs/guides/sandbox.md tells how)"
            raise RefusedError(f"{place} {why}") from None
        return set()
    except OSError as error:
        raise RefusedError(f"cannot read {place}: {error.strerror}") from error


def _box_marks(box: str) -> set[str]:
    """What we have read ourselves, in a sandbox: nobody has taken that in yet."""
    return {name for name in os.listdir(box) if name.endswith((READ, ACKED))} if box else set()


def _read(place: str, id_: str) -> Mail | None:
    text = sentinel_files.read(f"{place}/{id_}.md", LARGEST + HEADER)
    if text is None:
        return None
    found = codec.decode_mail(text)
    if found.id != id_:
        raise FormatError(f"it says that it is {found.id!r}")
    return found
