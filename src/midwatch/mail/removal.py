"""Removing messages that were read: those whose whole thread was."""

from __future__ import annotations

import contextlib
import os

from midwatch.mail import store
from midwatch.mail.model import Mail


def list_read(place: str, before: float) -> list[Mail]:
    """Messages sent before a moment (wall) of threads in which nothing is unread. RefusedError as for reading."""
    found = store.read_all(place)[0]
    unread = {mail.thread for mail in found if not (mail.read or mail.acked)}
    return [mail for mail in found if mail.thread not in unread and mail.at < before]


def measure_mail(place: str, mail: Mail) -> int:
    """Bytes of a message. Raises OSError."""
    return os.lstat(f"{place}/{mail.id}.md").st_size


def remove_mail(place: str, mail: Mail) -> int:
    """Bytes that this frees. The message goes before the marks: without them it would be unread. Raises OSError."""
    path = f"{place}/{mail.id}.md"
    freed = os.lstat(path).st_size
    os.unlink(path)
    for mark in (store.READ, store.ACKED):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{place}/{mail.id}.{mark}")
    return freed
