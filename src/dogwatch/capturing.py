"""Writes what a pane shows into a log, without what only a terminal understands. tmux runs it (`pipe-pane`).

Started with ``python -I -S``; it ends when its pane does, or when the capture is closed.
"""

from __future__ import annotations

import os
import re
import sys

MOVES = re.compile(rb"\x1b\[(\d*)C|\x1b\[(?:\d*[BEF]|[\d;]*[Hf])")
"""The cursor goes right, which stands for blanks, or to another row."""
SEQUENCE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, modes
    rb"|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, DCS and others: titles, links, questions
    rb"|[ -/]+[0-~]|[0-Z\\^-~])"  # character sets and single ones
    rb"|\r(?=\n)|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]"
)
UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\Z|\r\Z")
WIDEST = 200
LONGEST = 1 << 16
"""Bytes that a sequence may have that has not ended; beyond, it is none."""


class Stripper:
    """Takes bytes in any pieces; what may be half a sequence is kept back."""

    def __init__(self) -> None:
        self._kept = b""

    def feed(self, data: bytes) -> bytes:
        """What is text of all that has come so far and was not given out yet. A lone return begins a new line."""
        data = self._kept + data
        found = UNFINISHED.search(data, max(0, len(data) - LONGEST))
        end = found.start() if found else len(data)
        self._kept = data[end:]
        text = SEQUENCE.sub(b"", MOVES.sub(_moved, data[:end]))
        return text.replace(b"\r", b"\n").replace(b"\x1b", b"")


def _moved(found: re.Match[bytes]) -> bytes:
    return b"\n" if found[1] is None else b" " * min(int(found[1] or 1), WIDEST)


def main() -> None:
    path = sys.argv[2]
    stripper = Stripper()
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
    while data := os.read(0, 65536):
        text = stripper.feed(data)
        try:
            while text:
                text = text[os.write(log, text) :]
        except OSError:
            continue  # a full disk: what is said now is lost, what comes later may not be
