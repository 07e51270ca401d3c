"""The output of a job: its last line, and lines that match, read once each however large it grows."""

import os
import re

from dogwatch.lean import open_plain

CHUNK = 1 << 18
TAIL = 4096
LONGEST_LINE = 1 << 20


class LogScan:
    """Looks for a line in a growing log, a part at a time. ``find`` reads what came since it was last called."""

    def __init__(self, path: str, pattern: re.Pattern[str]) -> None:
        self.path = path
        self.pattern = pattern
        self.offset = 0
        self.rest = b""
        self.behind = False
        """There was more to read than one part: ask again."""

    def find(self) -> str | None:
        """The first new line that matches. An unfinished last line counts too; it may be a prompt."""
        try:
            with open(open_plain(self.path), "rb") as log:
                log.seek(self.offset)
                chunk = log.read(CHUNK)
        except OSError:
            self.behind = False
            return None
        self.offset += len(chunk)
        self.behind = len(chunk) == CHUNK
        *lines, rest = (self.rest + chunk).split(b"\n")
        self.rest = rest[-LONGEST_LINE:]
        for line in lines if self.behind else [*lines, self.rest]:
            text = line.decode("utf-8", "replace").rstrip("\r")
            if self.pattern.search(text):
                return text.strip()
        return None


def last_line(path: str) -> str:
    """The last line with text in it, without control characters; empty when there is none."""
    try:
        with open(open_plain(path), "rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - TAIL))
            lines = log.read(TAIL).decode("utf-8", "replace").replace("\r", "\n").split("\n")
    except OSError:
        return ""
    for line in reversed(lines):
        if shown := "".join(c for c in re.sub(r"\x1b(\[[0-?]*[ -/]*[@-~]|.)", "", line) if c.isprintable()).strip():
            return shown
    return ""
