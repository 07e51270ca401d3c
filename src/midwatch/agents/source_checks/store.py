"""What this user's watchers have learnt of their sources: ``sources.json``, and the recordings that show why.

One file for all projects, as agents are installed for all of them. Every look reads it (one `stat`, mostly); it is
written when an outcome is counted that says something new, under a lock. What cannot be read counts as empty.
"""

from __future__ import annotations

import os
import re

from midwatch.agents.source_checks import codec as source_checks_codec
from midwatch.agents.source_checks.model import Claim, Records
from midwatch.config import paths, sentinel_files
from midwatch.core.errors import FormatError
from midwatch.core.value import Value
from midwatch.system import file_locks
from midwatch.system.atomic_files import write_atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE = 1.0
"""Seconds to wait for another watcher that counts. After that the outcome is lost, not the look."""
MOST_RECORDINGS = 20


class SourceRecordsFile(Value):
    records: Records
    trouble: str = ""
    """Why the file cannot be read."""
    replaceable: bool = True
    """Whether an outcome may be counted all the same."""


def records_path() -> str:
    return f"{paths.state_root()}/sources.json"


def read_records() -> SourceRecordsFile:
    try:
        text = sentinel_files.read(records_path())
        return SourceRecordsFile(() if text is None else source_checks_codec.decode(text))
    except source_checks_codec.NewerSchemaError as error:
        return SourceRecordsFile((), f"{records_path()}: {error}", replaceable=False)
    except FormatError as error:
        return SourceRecordsFile((), f"{records_path()}: {error}")


class SourceRecordsCache:
    """The records, read again when the file is another."""

    def __init__(self) -> None:
        self._state: tuple[int, ...] | None = None
        self._asked = -1.0
        self._records: Records = ()

    def records(self, now: float) -> Records:
        """``now``: the moment of a look; the panes of one look ask for the file once."""
        if now != self._asked:
            self._asked = now
            state = _file_state()
            if state != self._state:
                self._state, self._records = state, read_records().records
        return self._records


def update_records(change: Callable[[Records], Records]) -> bool:
    """Change the records, alone. False where that cannot be: another one holds them, or they cannot be written."""
    try:
        paths.make_private(paths.state_root())
        fd = file_locks.acquire(f"{paths.state_root()}/.sources.lock", PATIENCE)
    except OSError:
        return False
    if fd is None:
        return False
    try:
        reading = read_records()
        if not reading.replaceable:
            return False
        records = change(reading.records)
        if records is not reading.records:
            write_atomic(records_path(), source_checks_codec.encode(records))
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(fd)


def recording_path(agent: str, version: str, claim: Claim) -> str:
    """Where the recording of a contradiction is kept: one for each claim, whatever words it is made of."""
    words = (agent, version or "unknown", claim.source, claim.turn, claim.rule)
    name = "-".join(re.sub(r"[^A-Za-z0-9._]", "_", word)[:40] for word in words)
    return f"{_recordings()}/{name.lstrip('.')}.jsonl"


def write_recording(where: str, text: str) -> None:
    """Keep a recording, and only the newest of all. Raises OSError."""
    paths.make_private(_recordings())
    write_atomic(where, text)
    found = [f"{_recordings()}/{name}" for name in os.listdir(_recordings()) if name.endswith(".jsonl")]
    found.sort(key=lambda each: os.lstat(each).st_mtime_ns, reverse=True)
    for old in found[MOST_RECORDINGS:]:
        os.unlink(old)


def _recordings() -> str:
    return f"{paths.state_root()}/evidence"


def _file_state() -> tuple[int, ...]:
    try:
        found = os.stat(records_path(), follow_symlinks=False)
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns
