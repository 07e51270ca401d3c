"""How an agent that has ended can be gone on with, by its own last words: most print the command for it."""

from __future__ import annotations

import re

from dogwatch.agents.detector import Detector
from dogwatch.agents.starting import CONVERSATION
from dogwatch.model.value import Value

ID = r"(?P<conversation>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|ses_[0-9A-Za-z]{10,40})(?![0-9A-Za-z-])"
FRAME = str.maketrans("│┃", "  ")
DROPPED = "^C"
"""What ends a line that was not run, as most shells show it."""


class Goodbye(Value):
    agent: Detector
    conversation: str
    since: bool
    """Something was run at that prompt after it: whoever did so may have meant the shell to be his."""


def read(detectors: tuple[Detector, ...], rows: tuple[str, ...], cursor: tuple[int, int]) -> Goodbye | None:
    """The last such words on a screen; ``cursor``: column and row, where a shell has its prompt."""
    text = "\n".join(rows).translate(FRAME)
    found = [
        (match.end(), detector, match["conversation"])
        for detector in detectors
        if (pattern := _pattern(detector))
        for match in pattern.finditer(text)
    ]
    if not found:
        return None
    end, detector, conversation = max(found, key=lambda each: each[0])
    column, row = cursor
    prompt = rows[row][:column].strip() if row < len(rows) else ""
    after = [line.strip() for line in rows[text.count("\n", 0, end) + 1 :]]
    lines = [line.removeprefix(prompt) for line in after if prompt and line.startswith(prompt)]
    return Goodbye(detector, conversation, any(line and not line.endswith(DROPPED) for line in lines))


def _pattern(detector: Detector) -> re.Pattern[str] | None:
    """Its way to resume, wherever lines are broken."""
    start = detector.start
    if start is None or CONVERSATION not in start.resume:
        return None
    words = [ID if word == CONVERSATION else re.escape(word) for word in (*start.command, *start.resume)]
    return re.compile(r"(?<![0-9A-Za-z_-])" + r"\s+".join(words))
