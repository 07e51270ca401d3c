"""What is known of the process of a subject: a word, or how it ended with its code or signal.

A word carries nothing, so it is a word; an end carries its code, so it is a value and nobody reads it out of a text.
"""

from __future__ import annotations

from midwatch.core.exhaustive import assert_never
from midwatch.core.text import signal_name, signal_number
from midwatch.core.value import Value


class Exited(Value):
    """The process has ended; with neither code nor signal, how it ended is not known."""

    code: int | None = None
    signal: int | None = None


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    ProcessWord = Literal["starting", "alive", "suspended", "unsupervised", "gone", "unknown"]
    ProcessState = ProcessWord | Exited
else:
    ProcessState = str | Exited

WORDS: tuple[ProcessWord, ...] = ("starting", "alive", "suspended", "unsupervised", "gone", "unknown")


def format_process(process: ProcessState) -> str:
    """As JSON and files have it: `alive`, `exited(1)`, `exited(SIGKILL)`, `exited(unknown)`."""
    match process:
        case Exited(code=code, signal=number):
            how = signal_name(number) if number is not None else "unknown" if code is None else str(code)
            return f"exited({how})"
        case "starting" | "alive" | "suspended" | "unsupervised" | "gone" | "unknown":
            return process
        case _:
            return assert_never(process)


def parse_process(text: str) -> ProcessState:
    """What ``format_process`` gave; anything else is unknown."""
    for word in WORDS:
        if text == word:
            return word
    if not (text.startswith("exited(") and text.endswith(")")):
        return "unknown"
    inner = text[len("exited(") : -1]
    if (number := signal_number(inner)) is not None:
        return Exited(signal=number)
    return Exited(int(inner)) if inner.isdecimal() and inner.isascii() and len(inner) < 4 else Exited()  # noqa: PLR2004
