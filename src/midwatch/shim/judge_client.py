"""Asking the judge: it runs beside the shim, so its answer may come too late for what it was asked about. A leaf."""

from __future__ import annotations

import os

from midwatch.shim.fork import fork_judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.shim.progress import ProgressTracker

LIMIT = 30.0
"""Seconds that the judge may take to answer."""
SOON, SELDOM = 1.0, 60.0
"""Seconds after which a judge that gave no answer is asked again, at first and at most."""
NEVER = float("inf")


class JudgeRequest:
    """One question at a time, about the movement of one job."""

    def __init__(self, command: list[str], moves: ProgressTracker, secrets: list[str]) -> None:
        self.command = command
        self.moves = moves
        self.secrets = secrets
        """Variables that the judge does not get: it needs none of them, and may run a verifier of others."""
        self.due = NEVER
        self.about = 0.0
        """When the work had last moved when the judge was asked."""
        self._answer = -1
        self._delay = SOON

    def delay(self) -> float:
        """Seconds after which a question is asked again that nobody has answered."""
        delay, self._delay = self._delay, min(self._delay * 2, SELDOM)
        return delay

    def ask(self, now: float) -> str:
        """Returns why it could not be asked, or nothing."""
        try:
            self.moves.helper, self._answer = fork_judge(self.command, self.secrets)
        except OSError as error:
            return f"the judge could not be run: {error.strerror}"
        self.due = now + LIMIT
        self.about = self.moves.last()
        return ""

    def answered(self) -> tuple[str, float, str, str, float] | None:
        """What the judge said before it ended; None when that was no answer.

        Wait, stop, retry or end; seconds until then; moving, stale, stuck or ended; why; when it looked.
        """
        said = os.read(self._answer, 4096).decode("utf-8", "replace").rstrip("\n").split("\t")
        os.close(self._answer)
        self.moves.helper, self.due = 0, NEVER
        try:
            what, seconds, word, reason, judged = said
            self._delay = SOON
            return what, float(seconds), word, reason, float(judged)
        except ValueError:
            return None

    @property
    def overtaken(self) -> bool:
        """The work has moved since the judge was asked, or time was lost: its silence is not what was judged."""
        return self.moves.last() > self.about
