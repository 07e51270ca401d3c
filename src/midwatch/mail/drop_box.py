"""Mail that agents in sandboxes have left in their drop boxes: those outside take it in when they look for mail.

Whatever it says, a message is from the subject in whose box it was. That subject can tell of no mail but its own that
it was read.
"""

from __future__ import annotations

import contextlib
import os
import time

from midwatch.config import paths
from midwatch.core import names
from midwatch.core.errors import FormatError, RefusedError, UsageError
from midwatch.core.foreign_text import NOTHING, ForeignText
from midwatch.mail import codec
from midwatch.mail import store as mail_store
from midwatch.mail.model import Mail
from midwatch.shim import drop_box
from midwatch.system import file_locks

HEADER = 64 << 10
"""Bytes that a header may have, besides the text."""
MOST = 1000
"""Files of one box that are taken in at one look; the next one goes on."""


def collect_mail(place: str, directories: list[str]) -> list[str]:
    """Move what is in the boxes of some state directories to its place. Returns what is wrong with files there."""
    waiting = [found for directory in directories for found in _find_boxes(directory)]
    if not waiting:
        return []
    try:
        paths.prepare_directory(os.path.dirname(place))
        paths.make_private(place)
        with file_locks.ExclusiveLock(f"{place}/.taking"):  # else two would take in the same
            return [wrong for box, name, entries in waiting for wrong in _collect_box(place, box, name, entries)]
    except (OSError, RefusedError) as error:
        return [f"the mail in drop boxes is left there: {error}"]


def _find_boxes(directory: str) -> list[tuple[str, str, list[str]]]:
    """Boxes in which there is mail: path, name, files."""
    found = []
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(f"{directory}/drop")):
            box = drop_box.box_path(directory, name)
            if names.find_problem(name) or os.path.islink(box):
                continue
            with contextlib.suppress(OSError):
                entries = [each for each in os.listdir(box) if each.rpartition(".")[2] in drop_box.MAIL]
                if entries := sorted(each for each in entries if not each.startswith("."))[:MOST]:
                    found.append((box, name, entries))
    return found


def _collect_box(place: str, box: str, name: str, entries: list[str]) -> list[str]:
    wrong: list[str] = []
    sent: list[Mail] = []
    for entry in entries:
        id_, _, suffix = entry.rpartition(".")
        try:
            if suffix != "md":
                _collect_mark(place, name, id_, suffix)
                os.unlink(f"{box}/{entry}")
            elif (found := _read(box, name, id_)) is not None:
                sent.append(found)
        except (FormatError, ValueError) as error:
            wrong.append(f"{box}/{entry}: {error}")
        except OSError as error:
            wrong.append(f"{box}/{entry}: {error.strerror}")
    for each in sorted(sent, key=lambda found: found.at):
        _store_mail(place, each)
        os.unlink(f"{box}/{each.id}.md")
    return wrong


def _read(box: str, name: str, id_: str) -> Mail | None:
    data = drop_box.read_file(f"{box}/{id_}.md", mail_store.LARGEST + HEADER)
    if data is None:
        return None
    found = codec.decode_mail(data.decode("utf-8", "replace"))
    if found.id != id_ or not codec.is_mail_id(id_):
        raise FormatError(f"it says that it is {found.id!r}")
    try:
        said = codec.clean_name("from", found.sender.raw)
        return found._replace(
            sender=ForeignText(name), claims=NOTHING if said.raw == name else said,
            to=codec.clean_name("to", found.to.raw),
            subject=codec.clean_field("subject", found.subject.raw), topic=codec.clean_field("topic", found.topic.raw),
            task=codec.clean_field("task", found.task.raw), at=max(0.0, min(found.at, time.time())),
        )  # fmt: skip
    except UsageError as error:
        raise FormatError(str(error)) from error


def _store_mail(place: str, found: Mail) -> None:
    thread, begins = found.thread, found._replace(thread="")
    if thread != found.id:
        with contextlib.suppress(RefusedError):  # a thread that nobody knows is a new one
            begins = mail_store.put_in_thread(place, begins, thread)
    if not _is_stored(place, found):
        mail_store.write_mail(place, begins)


def _is_stored(place: str, found: Mail) -> bool:
    """Whether somebody who was killed had put it there, and could not take it out of the box any more."""
    try:
        there = mail_store.find_mail(place, found.id)
    except (RefusedError, FormatError):
        return False
    return (there.id, there.sender, there.to, there.text) == (found.id, found.sender, found.to, found.text)


def _collect_mark(place: str, name: str, id_: str, what: str) -> None:
    if not codec.is_mail_id(id_):
        return
    try:
        if mail_store.find_mail(place, id_).to.raw == name:
            mail_store.mark_mail(place, id_, what)
    except (RefusedError, FormatError):
        return
