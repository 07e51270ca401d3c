"""What the model truly did, with wall-clock times: the truth against which verdicts are held.

One JSON object per line: `t` (seconds since the epoch), `seq` (number of the request), `session` (which agent session
asked, from its dummy key), `main` (it carries tools; the others ask for a title or the like), `event` and what belongs
to it:

    began         api, step (tool results since the prompt), reply (the acts), prompt, stream, model, tools
    first-byte    the answer's first byte went out
    thinking      reasoning began
    text          words began
    tool-call     name, arguments
    hang          from here on we are silent, until client-gone
    ended         the answer is complete
    error         status, headers, body: refused, instead of an answer
    stream-error  type: an error inside a begun answer
    cut           we closed the connection in the middle
    client-gone   the agent closed the connection before the answer was complete
    other         method, path, status: any call that is not for the model

A request that began closes with exactly one of ended, error, stream-error, cut, client-gone.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

CLOSING = frozenset({"ended", "error", "stream-error", "cut", "client-gone"})


class Journal:
    """Safe to use from several threads; every line is on disk when `note` returns."""

    def __init__(self, path: Path | None = None) -> None:
        self._lines: list[str] = []
        self._lock = threading.Lock()
        self._file = path.open("a", encoding="utf-8") if path else None
        self._requests = 0

    def number(self) -> int:
        with self._lock:
            self._requests += 1
            return self._requests

    def note(self, seq: int, session: str, event: str, **details: Any) -> None:
        with self._lock:
            entry = {"t": round(time.time(), 4), "seq": seq, "session": session, "event": event} | details
            line = json.dumps(entry, ensure_ascii=False)
            self._lines.append(line)
            if self._file:
                self._file.write(line + "\n")
                self._file.flush()

    def text(self) -> str:
        with self._lock:
            return "".join(line + "\n" for line in self._lines)

    def close(self) -> None:
        if self._file:
            self._file.close()


def read(path: Path) -> list[dict[str, Any]]:
    """The entries of a journal file; a line still being written is left out."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return []
    # As bytes: a half-written letter is no error, and words may hold separators that end a line only to Python.
    return [json.loads(line) for line in raw.split(b"\n")[:-1]]
