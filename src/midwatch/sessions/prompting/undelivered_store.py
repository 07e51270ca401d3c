"""Notes of prompts that did not arrive: one file for each, until it is delivered or somebody drops it.

The file's name tells server, pane and message, so the same text tried again is the same note, and a delivery finds what
it settles without a search. What is noted is private: it may be anything that somebody wanted to say to an agent.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time

from midwatch.config import paths, sentinel_files
from midwatch.core.errors import FormatError, RefusedError, UsageError
from midwatch.core.value import Value
from midwatch.sessions.prompting.model import PromptResult
from midwatch.system.atomic_files import make_durable, write_atomic

SCHEMA = 1
MOST, LONGEST = 200, 30 * 86400.0
"""Notes that are kept, and seconds for which."""


class UndeliveredPrompt(Value):
    """A prompt that did not arrive."""

    id: str
    socket: str
    """Of the tmux server."""
    pane: str
    target: str
    """Whom it was for, as it was said: a name, =session or the pane."""
    text: str
    reason: str
    at: float
    """When it was last tried, on the wall clock."""
    left: bool
    """It may still stand in the box."""
    pid: int = 0
    """Of the pane's first process, 0 where nobody knew: numbers of panes begin anew with each server."""


def write_note(
    socket: str, pane: str, text: str, reason: str, *, target: str = "", left: bool = False, pid: int = 0
) -> UndeliveredPrompt:
    """Note it for good, in place of an older note of the same. RefusedError where nothing can be written."""
    socket = os.path.realpath(socket)
    note = UndeliveredPrompt(
        _note_id(socket, pane, text), socket, pane, target or pane, text, reason, time.time(), left, pid
    )
    path = f"{_notes_directory()}/{_pane_prefix(socket, pane)}{note.id}.json"
    try:
        paths.make_private(_notes_directory())
        write_atomic(path, json.dumps({"schema": SCHEMA, **note._asdict()}) + "\n")
        make_durable(path)
    except OSError as error:
        raise RefusedError(f"what was not delivered cannot be noted in {path}: {error.strerror}") from error
    _remove_old_notes(note.at)
    return note


def update_notes(sent: PromptResult, socket: str, pane: str, text: str, pid: int) -> None:
    """What became of a text: what has arrived is settled, what may still stand in the box is noted, if that can be."""
    if sent.delivered:
        remove_notes(socket, pane, text)
    elif sent.left:
        with contextlib.suppress(RefusedError):  # what became of it is said all the same
            write_note(socket, pane, text, sent.reason, left=True, pid=pid)


def read_notes(socket: str, pane: str, pid: int = 0) -> list[UndeliveredPrompt]:
    """What did not arrive in a pane, oldest first; with the pid of its first process, in that very pane."""
    found = _read_notes(_pane_prefix(os.path.realpath(socket), pane))
    return [note for note in found if not pid or note.pid in (0, pid)]


def read_all_notes() -> list[UndeliveredPrompt]:
    return _read_notes("")


def find_note(name: str) -> UndeliveredPrompt:
    """The one whose id begins like that."""
    found = [note for note in read_all_notes() if name and note.id.startswith(name)]
    if len(found) != 1:
        what = f"{len(found)} undelivered notes begin with" if found else "no undelivered note is called"
        raise UsageError(f"{what} {name!r}; `midwatch send --undelivered` lists them")
    return found[0]


def remove_notes(socket: str, pane: str, text: str) -> None:
    """A text has arrived in a pane: no note of it is left. The box was empty then, so nothing else stood there."""
    socket = os.path.realpath(socket)
    if not any(name.startswith(_pane_prefix(socket, pane)) for name in _list_names()):
        return
    drop_note(_note_id(socket, pane, text))
    for note in read_notes(socket, pane):
        if note.left:
            path = f"{_notes_directory()}/{_pane_prefix(socket, pane)}{note.id}.json"
            with contextlib.suppress(OSError):
                write_atomic(path, json.dumps({"schema": SCHEMA, **note._replace(left=False)._asdict()}) + "\n")


def drop_note(name: str) -> None:
    """The note of that id, if there is one."""
    for each in _list_names():
        if each.endswith(f"-{name}.json"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{_notes_directory()}/{each}")


# Files --------------------------------------------------------------------------------------------------------------


def _notes_directory() -> str:
    return f"{paths.state_root()}/undelivered"


def _pane_prefix(socket: str, pane: str) -> str:
    """How the names of a pane's notes begin."""
    return f"{_digest(socket)}-{pane.removeprefix('%')}-"


def _note_id(socket: str, pane: str, text: str) -> str:
    return _digest(f"{socket}\0{pane}\0{text}")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def _list_names() -> list[str]:
    try:
        return [name for name in os.listdir(_notes_directory()) if name.endswith(".json") and not name.startswith(".")]
    except OSError:
        return []


def _read_notes(beginning: str) -> list[UndeliveredPrompt]:
    found = [_read_note(f"{_notes_directory()}/{name}") for name in _list_names() if name.startswith(beginning)]
    return sorted([note for note in found if note is not None], key=lambda note: note.at)


def _read_note(path: str) -> UndeliveredPrompt | None:
    """What cannot be read is no note: it may be of another version, or gone by now."""
    try:
        data = json.loads(sentinel_files.read(path) or "null")
    except (FormatError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.pop("schema", None) != SCHEMA:
        return None
    try:
        return UndeliveredPrompt(**{key: value for key, value in data.items() if key in UndeliveredPrompt._fields})
    except TypeError:
        return None


def _remove_old_notes(now: float) -> None:
    """Remove what is too old, and the oldest of too many."""
    aged: list[tuple[float, str]] = []
    for name in _list_names():
        with contextlib.suppress(OSError):
            aged.append((os.stat(f"{_notes_directory()}/{name}").st_mtime, name))
    aged.sort()
    for number, (at, name) in enumerate(aged):
        if now - at > LONGEST or number < len(aged) - MOST:
            with contextlib.suppress(OSError):
                os.unlink(f"{_notes_directory()}/{name}")
