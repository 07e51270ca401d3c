"""Recordings of what a pane printed, piece by piece with its time: asciicast, version 2.

Run by tmux (`pipe-pane`) as ``python -m tests.lab.casts COLUMNS ROWS FILE``, it records until the pane is closed.
"""

from __future__ import annotations

import codecs
import json
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple


class Cast(NamedTuple):
    columns: int
    rows: int
    pieces: list[tuple[float, bytes]]


def read(path: Path) -> Cast:
    head, *events = map(json.loads, path.read_text().splitlines())
    return Cast(head["width"], head["height"], [(at, text.encode()) for at, kind, text in events if kind == "o"])


def record(columns: int, rows: int, path: Path) -> None:
    decoder, began = codecs.getincrementaldecoder("utf-8")("replace"), time.monotonic()
    with path.open("w") as file:
        file.write(json.dumps({"version": 2, "width": columns, "height": rows}) + "\n")
        while data := os.read(0, 1 << 16):
            event = [round(time.monotonic() - began, 3), "o", decoder.decode(data)]
            file.write(json.dumps(event, ensure_ascii=False) + "\n")
            file.flush()


if __name__ == "__main__":
    record(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
