"""Which files of projects may act: those that the user has read and trusted.

A cloned repository brings its own midwatch.toml; nothing of it may act because someone typed `midwatch run` there.
Settings are trusted byte by byte, with the files of the project that their commands name. How a registry is trusted,
`socket_trust` says.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time

from midwatch.config import load, paths
from midwatch.config.model import PreflightCheck, Settings
from midwatch.core.errors import FormatError, MidwatchError, RefusedError
from midwatch.core.text import visible
from midwatch.core.value import Value
from midwatch.system import file_locks
from midwatch.system.atomic_files import make_durable, read_plain, write_atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


RUNNING = ("run", "module", "package", "venv")
"""Kinds of checks that execute what the project brings: its scripts, or the interpreter of its environment."""
CONNECTING = ("http", "tcp")
"""Kinds of checks that speak to an address which the file names."""
LINES = 1 << 16
"""Bytes of a file that are read at a time."""
FIELDS = 3
LARGEST = 4 << 20


class TrustEntry(Value):
    """One line of the list."""

    digest: str
    at: int
    """Seconds since 1970."""
    path: str


def needs_trust(check: PreflightCheck) -> bool:
    """Whether a check needs a trusted file, if it comes from a project's."""
    return check.kind in (*RUNNING, *CONNECTING) or bool(check.fix)


ACTING = ("parse", "handoff", "watchdog_prompt", "send_via", "ensure_quality", "tracker_path", "mqtt")
"""Settings that make Midwatch run, type, connect or read elsewhere."""


def needs_trust_at_all(path: str) -> bool:
    """Whether a project's file holds anything that counts only once it is trusted. FormatError where it is wrong."""
    given = load.load_layer(path) or {}
    checks = given.get("checks", ())
    assert isinstance(checks, tuple)
    if os.path.abspath(path) == os.path.abspath(load.user_file()):
        return False
    return bool(given.get("channels")) or any(map(needs_trust, checks)) or any(key in given for key in ACTING)


def trusted_value(found: Settings, key: str) -> tuple[object, str]:
    """A setting that makes us act, and why the project's does not count: then it is as the user's own file has it."""
    source = found.sources.get(key, "")
    why = find_problem(source.rpartition(":")[0]) if source else ""
    if not why:
        return getattr(found, key), ""
    return (load.load_layer(load.user_file()) or {}).get(key, getattr(Settings(), key)), why


def find_problem(path: str) -> str:
    """Why a settings file may not act, and what to do; empty when it may.

    Asked of the bytes that the last `load.load` read, so that no other file can slip in between. The user's own
    file needs no trust.
    """
    if os.path.abspath(path) == os.path.abspath(load.user_file()):
        return ""
    try:
        data, known = load.last_bytes_read(path), find_entry(path)
    except MidwatchError as error:
        return str(error)
    if data is None:
        return f"there is no {visible(path)}; write it, then `midwatch trust`"
    if unsafe := find_exposure(path):
        return unsafe
    if known is None:
        return f"{visible(path)} is not trusted: read it, then `midwatch trust`"
    if known.digest != digest(data):
        since = f"was changed since you trusted it ({format_day(known)})"
        return f"{visible(path)} {since}: read the change, then `midwatch trust`"
    return next(filter(None, (_find_change(path, *script) for script in script_digests(path).items())), "")


def _find_change(path: str, script: str, now: str) -> str:
    """Why a file that a trusted one names is not as it was trusted; empty when it is."""
    known, named = find_entry(script), f"{visible(script)}, which {visible(path)} names,"
    if others := _find_other_writer(script):
        return f"{others}; make it yours alone (`chmod go-w`, `chown`), then `midwatch trust`"
    if known is None:
        return f"{named} is not trusted: read it, then `midwatch trust`"
    return "" if known.digest == now else (
        f"{named} was changed since you trusted it ({format_day(known)}): read the change, then `midwatch trust`"
    )  # fmt: skip


def script_digests(path: str) -> dict[str, str]:
    """Files of the project that its settings file names and that are run, or told; what is in them now (SHA-256).

    A word of a command is one if it is the path of a script, from the project's root on, or stands behind a shell or
    an interpreter. Other files that a command names, it may write. What a script calls in turn is not known here.
    """
    from midwatch.config.codec import file_references  # noqa: PLC0415  # where there is a file, TOML is paid for anyway
    from midwatch.config.codec import settings_file as formats  # noqa: PLC0415

    data, real = load.last_bytes_read(path), os.path.realpath(path)
    try:
        given = formats.parse_layer(formats.decode_text(data or b"", path), path)
    except FormatError:
        return {}  # nothing of it is run either
    root = os.path.dirname(real)
    told = [place for word in file_references.named_files(given) if (place := _project_file(root, word))]
    told += [
        place
        for word in file_references.possible_files(given)
        if (place := _project_file(root, word)) and _is_script(place)
    ]
    found = {os.path.realpath(place): file_digest(place) for place in sorted({*told})}
    return {place: now for place, now in found.items() if now is not None and place != real}


def _project_file(root: str, word: str) -> str:
    """The plain file that a word names, if it is in the project; else nothing."""
    place = os.path.normpath(os.path.join(root, os.path.expanduser(word)))
    return place if place.startswith(root.rstrip("/") + "/") and os.path.isfile(place) else ""


def _is_script(place: str) -> bool:
    from midwatch.config.codec import file_references  # noqa: PLC0415  # as above

    if os.access(place, os.X_OK) or file_references.SCRIPT.fullmatch(place):
        return True
    try:
        with open(place, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return True  # that it cannot be read is told by whoever runs it


def file_digest(path: str) -> str | None:
    """Of a plain file of any size; None where there is none that can be read."""
    try:
        found = hashlib.sha256()
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK | os.O_CLOEXEC)) as file:
            while part := file.read(LINES):
                found.update(part)
    except OSError:
        return None
    return found.hexdigest()


def _find_other_writer(real: str) -> str:
    """Who else may write a file, or the directory that it is in; empty when nobody."""
    found = (paths.find_sharing(place) for place in (real, os.path.dirname(real)))
    return next((visible(others) for others in found if others), "")


def find_exposure(path: str) -> str:
    """Who else could change what a file runs, and what to do about it; empty when nobody."""
    real = os.path.realpath(path)
    if os.path.dirname(real) != os.path.realpath(os.path.dirname(os.path.abspath(path))):
        # Commands are meant from this project on: a link to a file trusted elsewhere would run what nobody has read.
        return f"{visible(path)} is a link to another directory, which is not followed; put a copy in its place"
    others = _find_other_writer(real)
    return f"{others}; make it yours alone (`chmod go-w`, `chown`), then `midwatch trust`" if others else ""


def trust_file(path: str, named: dict[str, str] | None = None) -> TrustEntry:
    """Trust a file as it was when it was last read here, and with it those that it names, as they were shown or are."""
    named = script_digests(path) if named is None else named
    data = load.last_bytes_read(path)
    if data is None:
        raise RefusedError(f"there is no {visible(path)}; name the file that is meant")
    return record_trust(path, digest(data), named)


def record_trust(path: str, found: str, named: dict[str, str]) -> TrustEntry:
    """Note a file as trusted under a digest, and with it files that it names."""
    if unsafe := find_exposure(path):
        raise RefusedError(unsafe)
    real = os.path.realpath(path)
    if "\n" in real:
        raise RefusedError(f"{visible(real)} has a line break in its name; give it another")
    for place in named:
        if others := _find_other_writer(place):
            raise RefusedError(f"{others}; make it yours alone (`chmod go-w`, `chown`), then `midwatch trust`")
    new = TrustEntry(found, int(time.time()), real)
    also = [TrustEntry(now, new.at, place) for place, now in named.items() if "\n" not in place]
    with _hold_list():
        _write_entry([*(each for each in list_entries() if each.path not in (real, *named)), new, *also])
    return new


def revoke_trust(path: str) -> bool:
    """Trust a file no longer, nor those that it names; False when it was not trusted."""
    real = os.path.realpath(path)
    gone = (real, *_read_script_digests(path))
    with _hold_list():
        before = list_entries()
        rest = [each for each in before if each.path not in gone]
        if len(rest) < len(before):
            _write_entry(rest)
    return len(rest) < len(before)


def _read_script_digests(path: str) -> dict[str, str]:
    try:
        return script_digests(path)
    except FormatError:  # it cannot be read any more
        return {}


def find_entry(path: str) -> TrustEntry | None:
    real = os.path.realpath(path)
    return next((each for each in list_entries() if each.path == real), None)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def format_day(trusted: TrustEntry) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(trusted.at))


# The list: one line per file


def list_entries() -> list[TrustEntry]:
    """All trusted files; RefusedError for a list that others may write."""
    path = _list_path()
    try:
        others = paths.find_sharing(os.path.dirname(path)) or paths.find_sharing(path)
        if others:
            raise RefusedError(f"{others}, so no word of it is believed; make it yours alone (`chmod go-w`, `chown`)")
        text = read_plain(path, LARGEST).decode("utf-8", "surrogateescape")
        lines = [line.split("\t", 2) for line in text.split("\n")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {error.strerror}; put it away, then trust again") from error
    good = [line for line in lines if len(line) == FIELDS and re.fullmatch("[0-9]{1,11}", line[1])]
    return [TrustEntry(line[0], int(line[1]), line[2]) for line in good]


def _write_entry(trusted: list[TrustEntry]) -> None:
    lines = [f"{each.digest}\t{each.at}\t{each.path}\n" for each in trusted]
    write_atomic(_list_path(), "".join(lines))
    make_durable(_list_path())


def _list_path() -> str:
    return f"{paths.state_root()}/trusted"


@contextlib.contextmanager
def _hold_list() -> Iterator[None]:
    """Nobody else changes the list meanwhile."""
    try:
        paths.make_private(paths.state_root())
        with file_locks.ExclusiveLock(f"{_list_path()}.lock"):
            yield
    except OSError as error:
        raise RefusedError(f"cannot write {_list_path()}: {error.strerror}; mend that, then trust again") from error
