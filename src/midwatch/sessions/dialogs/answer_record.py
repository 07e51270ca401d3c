"""Writes answers down: who selected what in which dialog, before the key is pressed, and what became of it."""

from __future__ import annotations

import contextlib
import time

from midwatch.config import paths
from midwatch.core.value import Value
from midwatch.journal import codec as journal_codec
from midwatch.journal.journal import Journal
from midwatch.sessions.dialogs.caller import Caller
from midwatch.sessions.dialogs.model import AnswerResult, Choice, OpenDialog

BEGUN, ENDED = "answer", "answered"
LONGEST = 200
"""Characters of a choice or a text that are kept."""


class AnswerRecord(Value):
    """Where the answers of one session are written down."""

    directory: str
    name: str
    run: str
    caller: Caller
    text: str | None = None

    def write_begun(self, dialog: OpenDialog, choice: Choice) -> None:
        """Raises RefusedError or OSError where it cannot be written: then nothing is to be typed."""
        said: dict[str, object] = {
            "dialog": dialog.id, "kind": dialog.kind, "choice": choice.number, "label": choice.text.line(LONGEST),
            "text": (self.text or "")[:LONGEST], "by": self.caller.user, "uid": self.caller.uid,
            "from_session": self.caller.session, "from_agent": self.caller.agent, "from_pane": self.caller.pane,
        }  # fmt: skip
        self._write(BEGUN, said)

    def write_ended(self, result: AnswerResult) -> None:
        dialog = result.dialog.id if result.dialog else ""
        self._write(ENDED, {"dialog": dialog, "outcome": result.outcome, "reason": result.reason})

    def _write(self, event: str, said: dict[str, object]) -> None:
        paths.prepare_directory(self.directory)
        with contextlib.closing(Journal(self.directory)) as book:
            book.take_in()
            book.add(journal_codec.uncounted_event(self.run, time.time(), self.name, event, said))
