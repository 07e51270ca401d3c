"""Where the turn of an agent is: each state carries exactly its own data, and is matched exhaustively.

Agents' files and sources tell a turn in words (`turn`, `detail`); ``read_turn`` is where those become values.
"""

from __future__ import annotations

from midwatch.core.foreign_text import NOTHING, ForeignText
from midwatch.core.value import Value

CONTINUES = "continues"
"""Detail of the limit of an agent that will continue by itself."""


class Working(Value):
    """A turn is under way."""

    doing: str = ""
    """`tool`, `model`, `retrying`; empty where nothing tells."""


class Waiting(Value):
    """The turn waits for a person."""

    reason: str = ""
    """A key of ``causes.WAITS_FOR``; empty where nothing tells for what."""


class Limited(Value):
    """The agent hit a limit of its service."""

    until: ForeignText = NOTHING
    """When it ends, in the words of whoever said so."""
    ends: float | None = None
    """The same on the wall clock, where that is known."""
    continues: bool = False
    """The agent shows that it will continue by itself."""


class Idle(Value):
    """The agent is at its prompt."""

    after: str = ""
    """`turn-ended`, `interrupted`, `turn-failed`, `background-work`, `limit-over`; empty where nothing tells."""


class Suspended(Value):
    """Its process is stopped by a signal."""


class Departed(Value):
    """The agent is gone."""

    after: str = ""
    """`turn-ended` where its turn had ended."""


class Unread(Value):
    """No source tells."""


TurnState = Working | Waiting | Limited | Idle | Suspended | Departed | Unread


def read_turn(turn: str, detail: str, until: ForeignText = NOTHING, ends: float | None = None) -> TurnState:
    """The value that the words of a source mean; words that are none mean nothing."""
    match turn:
        case "working":
            return Working(detail)
        case "waiting":
            return Waiting(detail)
        case "limited":
            return Limited(until, ends, detail == CONTINUES)
        case "idle":
            return Idle(detail)
        case "exited" if detail == "suspended":
            return Suspended()
        case "exited":
            return Departed(detail)
        case _:
            return Unread()
