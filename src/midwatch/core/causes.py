"""Why a subject is in its state: one word of a closed set.

Programs decide by it. A reason says the same to people, with its particulars; no program reads a reason.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Cause = Literal[
        "",
        # How a process ended
        "exit", "signal", "not-started", "timeout", "exit-unseen", "no-status", "status-file", "status-empty",
        "stop-asked", "interrupt", "hangup", "quit", "caller-gone", "exited",
        # What keeps it from going on, or seems to
        "no-progress", "frozen", "clock-advances", "suspended", "unsupervised", "limit",
        "permission", "question", "trust", "login", "menu", "startup-dialog", "dialog",
        "interrupted", "turn-end-unseen", "not-continued", "limit-over",
        # Where its turn is
        "turn-ended", "turn-failed", "background-work", "at-prompt", "never-began", "tool", "model", "retrying",
        "left-mid-turn",
        # What its verifier says
        "verified", "not-verified",
        # What became of its monitor
        "deadline", "monitor-ended", "monitor-failed", "retries-exhausted",
        # What cannot be seen
        "starting", "ending", "between-attempts", "not-found", "not-seen",
    ]  # fmt: skip
else:
    Cause = str

OF_DETAIL: dict[str, Cause] = {
    "permission": "permission", "question": "question", "trust": "trust", "login": "login", "menu": "menu",
    "startup-dialog": "startup-dialog", "suspended": "suspended", "interrupted": "interrupted",
    "turn-ended": "turn-ended", "turn-failed": "turn-failed", "background-work": "background-work",
    "tool": "tool", "model": "model", "retrying": "retrying", "limit-over": "limit-over",
}  # fmt: skip
"""What the details of a turn mean, as the agents' files name them."""
WAITS_FOR: dict[str, str] = {
    "permission": "a permission", "question": "an answer", "trust": "a word on trusting the folder",
    "login": "a login", "menu": "a choice in a menu", "startup-dialog": "an answer to a dialog",
}  # fmt: skip
"""For what a person is waited for, in words."""
