"""What a shim says: to the `dogwatch run` that started it, and by way of others to whoever wants to know. A leaf.

Notices are delivered by a process of its own (`dogwatch _tell`), which looks for itself: it is started once the files
say what became of the work, and nobody waits for it. A channel that hangs can neither delay nor change a verdict.
"""

from __future__ import annotations

import os

from dogwatch.forking import run_beside
from dogwatch.noting import Notebook, quietly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Voice:
    def __init__(self, notes: Notebook, control: int, teller: list[str] | None) -> None:
        self.notes = notes
        self.control = control
        self.teller = teller
        """What has somebody told; None where nobody is to be."""
        self.ended = False
        self.tellers: set[int] = set()
        """Those that it started and that have not ended; what they use is not the work's."""

    def say(self, line: str) -> None:
        """Speak to the `dogwatch run` that started us, if it still listens."""
        quietly(os.write, self.control, (line + "\n").encode("utf-8", "replace"))

    def say_end(self, end: dict[str, Any]) -> None:
        """How it ended, once."""
        if self.ended:
            return
        self.ended = True
        self.say("\t".join(["ended", *(str(end[key]) for key in ("state", "exit_code", "signal", "cause", "reason"))]))

    def notify(self) -> None:
        """Have somebody told how it is now."""
        if self.teller:
            try:
                self.tellers.add(run_beside(self.teller))
            except OSError as error:
                self.notes.spool("undelivered", reason=f"nobody could be told: {error.strerror}")
