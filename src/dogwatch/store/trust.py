"""Which settings files of projects may run commands: those that the user has read and trusted, byte by byte.

A cloned repository brings its own dogwatch.toml; nothing of it may run because someone typed `dogwatch run` there.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import time

from dogwatch.formats.visible import visible
from dogwatch.lean import make_durable, open_plain, write_atomic
from dogwatch.model.errors import DogwatchError, RefusedError
from dogwatch.model.settings import Check
from dogwatch.model.value import Value
from dogwatch.store import places, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

RUNNING = ("run", "module", "package", "venv")
"""Kinds of checks that execute what the project brings: its scripts, or the interpreter of its environment."""
FIELDS = 3


class Trusted(Value):
    """One line of the list."""

    digest: str
    at: int
    """Seconds since 1970."""
    path: str


def runs_commands(check: Check) -> bool:
    """Whether a check needs a trusted file, if it comes from a project's."""
    return check.kind in RUNNING or bool(check.fix)


def problem(path: str) -> str:
    """Why the commands of a settings file may not be run, and what to do; empty when they may.

    Asked of the bytes that the last `settings.load` read, so that no other file can slip in between. The user's own
    file needs no trust.
    """
    if os.path.abspath(path) == os.path.abspath(settings.user_file()):
        return ""
    try:
        data, known = settings.held(path), find(path)
    except DogwatchError as error:
        return str(error)
    if data is None:
        return f"there is no {visible(path)}; write it, then `dogwatch trust`"
    if unsafe := exposed(path):
        return unsafe
    if known is None:
        return f"{visible(path)} is not trusted: read it, then `dogwatch trust`"
    if known.digest != digest(data):
        since = f"was changed since you trusted it ({day(known)})"
        return f"{visible(path)} {since}: read the change, then `dogwatch trust`"
    return ""


def exposed(path: str) -> str:
    """Who else could change what a file runs, and what to do about it; empty when nobody."""
    real = os.path.realpath(path)
    if os.path.dirname(real) != os.path.realpath(os.path.dirname(os.path.abspath(path))):
        # Commands are meant from this project on: a link to a file trusted elsewhere would run what nobody has read.
        return f"{visible(path)} is a link to another directory, which is not followed; put a copy in its place"
    for place in (real, os.path.dirname(real)):
        if others := places.shared_with_others(place):
            return f"{visible(others)}; make it yours alone (`chmod go-w`, `chown`), then `dogwatch trust`"
    return ""


def add(path: str) -> Trusted:
    """Trust a file as it was when it was last read here."""
    if unsafe := exposed(path):
        raise RefusedError(unsafe)
    real, data = os.path.realpath(path), settings.held(path)
    if data is None:
        raise RefusedError(f"there is no {visible(path)}; name the file that is meant")
    if "\n" in real:
        raise RefusedError(f"{visible(real)} has a line break in its name; give it another")
    new = Trusted(digest(data), int(time.time()), real)
    with _alone():
        _write([*(each for each in listed() if each.path != real), new])
    return new


def remove(path: str) -> bool:
    """Trust a file no longer; False when it was not trusted."""
    real = os.path.realpath(path)
    with _alone():
        before = listed()
        rest = [each for each in before if each.path != real]
        if len(rest) < len(before):
            _write(rest)
    return len(rest) < len(before)


def find(path: str) -> Trusted | None:
    real = os.path.realpath(path)
    return next((each for each in listed() if each.path == real), None)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def day(trusted: Trusted) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(trusted.at))


# The list: one line per file


def listed() -> list[Trusted]:
    """All trusted files; RefusedError for a list that others may write."""
    path = _place()
    try:
        others = places.shared_with_others(os.path.dirname(path)) or places.shared_with_others(path)
        if others:
            raise RefusedError(f"{others}, so no word of it is believed; make it yours alone (`chmod go-w`, `chown`)")
        with open(open_plain(path), encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            lines = [line.split("\t", 2) for line in file.read().split("\n")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {error.strerror}; put it away, then trust again") from error
    good = [line for line in lines if len(line) == FIELDS and re.fullmatch("[0-9]{1,11}", line[1])]
    return [Trusted(line[0], int(line[1]), line[2]) for line in good]


def _write(trusted: list[Trusted]) -> None:
    lines = [f"{each.digest}\t{each.at}\t{each.path}\n" for each in trusted]
    write_atomic(_place(), "".join(lines))
    make_durable(_place())


def _place() -> str:
    return f"{places.state_root()}/trusted"


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Nobody else changes the list meanwhile."""
    try:
        places.make_private(places.state_root())
        fd = os.open(f"{_place()}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)
    except OSError as error:
        raise RefusedError(f"cannot write {_place()}: {error.strerror}; mend that, then trust again") from error
