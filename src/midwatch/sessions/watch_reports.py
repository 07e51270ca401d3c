"""What one monitor has reported of its session, from look to look: each change goes to whoever wants notifications."""

from __future__ import annotations

import time

from midwatch.core.verdict import Verdict
from midwatch.notifications import report_change
from midwatch.notifications.model import ChangeSubject
from midwatch.sessions.rules import monitor
from midwatch.sessions.targets import ForeignPane, ManagedSession


class WatchReports:
    def __init__(self, subject: ManagedSession | ForeignPane) -> None:
        self.subject = subject
        self.before: Verdict | None = None
        self.planned = False
        """The limit that was reported last has somebody who continues the work."""

    def report(self, verdict: Verdict, about: ChangeSubject, *, began: float, waits: bool) -> bool:
        """Report a look, of a watch that ``began`` then. Returns whether its state is another than before.

        ``waits``: for the end of a limit, to continue the work then.
        """
        planned = monitor.is_limit_planned(verdict, waits=waits)
        anew = self.planned and not planned and verdict.state == "limited"  # the state is the same, and yet it is news
        before, self.before, self.planned = self.before, verdict, planned
        report_change.report_verdict(
            self.subject.directory, verdict, None if anew else before, project=self.subject.project, about=about,
            at=time.monotonic(), since=began if verdict.state == "abandoned" else None, planned=planned,
        )  # fmt: skip
        return before is None or verdict.state != before.state
