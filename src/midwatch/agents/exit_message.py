"""What stands in a pane where an agent was: its own last words, and the shell's on a signal.

Most agents print the command by which their conversation can be gone on with. That is found wherever lines are broken.
"""

from __future__ import annotations

import re

from midwatch.agents.definition import Detector, split_regions
from midwatch.agents.launch import CONVERSATION
from midwatch.core.text import SIGNALS
from midwatch.core.value import Value

ID = r"(?P<conversation>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|ses_[0-9A-Za-z]{10,40})(?![0-9A-Za-z-])"
FRAME = str.maketrans("│┃", "  ")
DROPPED = "^C"
"""What ends a line that was not run, as most shells show it."""
MESSAGES = {
    "hangup": 1, "quit": 3, "illegal instruction": 4, "illegal hardware instruction": 4, "trace/breakpoint trap": 5,
    "trace trap": 5, "aborted": 6, "abort": 6, "bus error": 7, "floating point exception": 8, "killed": 9,
    "segmentation fault": 11, "terminated": 15,
}  # fmt: skip
"""What shells say of a job that a signal ended. Of Ctrl-C they say nothing."""
NAMES = {name: number for number, name in SIGNALS.items()}
_WORDS = "|".join(map(re.escape, sorted(MESSAGES, key=len, reverse=True)))
TOLD = re.compile(
    rf"^(?:zsh: |\[\d+\]  ?[+-]? +\d* *)?(?P<message>(?i:{_WORDS}))"  # bash, dash, zsh
    rf"|^.{{0,8}}(?P<over>{'|'.join(map(str.capitalize, sorted(MESSAGES, key=len, reverse=True)))})"  # in an old box
    r"|^fish: Job .* terminated by signal (?P<name>SIG[A-Z]+)"
)
NEAR = 3
"""Rows above the cursor in which a shell's message may be: prompts have several."""


class ExitMessage(Value):
    agent: Detector
    conversation: str
    since: bool
    """Something was run at that prompt after it: whoever did so may have meant the shell to be his."""


def read(detectors: tuple[Detector, ...], rows: tuple[str, ...], cursor: tuple[int, int]) -> ExitMessage | None:
    """The last such words on a screen; ``cursor``: column and row, where a shell has its prompt."""
    text = "\n".join(rows).translate(FRAME)
    found = [
        (match.end(), detector, match["conversation"])
        for detector in detectors
        if (pattern := _exit_pattern(detector))
        for match in pattern.finditer(text)
    ]
    if not found:
        return None
    end, detector, conversation = max(found, key=lambda each: each[0])
    prompt = _prompt_above_cursor(rows, cursor)
    after = [line.strip() for line in rows[text.count("\n", 0, end) + 1 :]]
    lines = [line.removeprefix(prompt) for line in after if prompt and line.startswith(prompt)]
    return ExitMessage(detector, conversation, any(line and not line.endswith(DROPPED) for line in lines))


def has_exit_message(detector: Detector, rows: tuple[str, ...], cursor: tuple[int, int]) -> bool:
    """Whether an agent that is gone took its leave.

    What stands above an input box of its own was said before it ended; what stands at the shell's prompt was typed.
    """
    pattern = _exit_pattern(detector)
    if pattern is None:
        return False
    text, prompt = "\n".join(rows).translate(FRAME), _prompt_above_cursor(rows, cursor)
    for match in pattern.finditer(text):
        row = text.count("\n", 0, match.start())
        typed = prompt and rows[row].strip().startswith(prompt)
        below, _ = split_regions(detector, rows[text.count("\n", 0, match.end()) + 1 :])
        if not typed and (detector.typing is None or detector.typing.box not in below):
            return True
    return False


def reported_signal(rows: tuple[str, ...], cursor: tuple[int, int]) -> int | None:
    """The signal that the shell says has ended its last job; it stands above the prompt at which the cursor is."""
    above = [row for row in rows[: cursor[1]] if row.strip()][-NEAR:]
    for row in reversed(above):
        if match := TOLD.match(row):
            message = match["message"] or match["over"]
            return MESSAGES[message.lower()] if message else NAMES.get(match["name"])
    return None


def _prompt_above_cursor(rows: tuple[str, ...], cursor: tuple[int, int]) -> str:
    column, row = cursor
    return rows[row][:column].strip() if row < len(rows) else ""


def _exit_pattern(detector: Detector) -> re.Pattern[str] | None:
    """Its way to resume, wherever lines are broken."""
    start = detector.start
    if start is None or CONVERSATION not in start.resume:
        return None
    parts = (*start.command, *(start.goodbye or start.resume))
    words = [ID if word == CONVERSATION else re.escape(word) for word in parts]
    return re.compile(r"(?<![0-9A-Za-z_-])" + r"\s+".join(words))
