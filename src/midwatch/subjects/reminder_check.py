"""Whether a session still waits for a person: asked before a reminder says so.

No monitor may be there to have seen that somebody answered. So the sender looks at the session itself, and what it sees
is heard like the look of any other watcher.
"""

from __future__ import annotations

import threading
import time

from midwatch.core.errors import FormatError, MidwatchError, RefusedError
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.notifications import enqueue, report_change
from midwatch.notifications.model import ChangeSubject, Notification
from midwatch.notifications.rules.schedule import is_still_waiting
from midwatch.subjects import snapshot
from midwatch.system import processes

OPEN_STATES = ("starting", "working", "idle", "limited", "stuck")
"""What a look may find in place of a wait. An end is told by others."""


class SessionCheck:
    """Looks at the sessions of one directory, one at a time."""

    def __init__(self, looker: JobDirectory) -> None:
        self.looker = looker
        self._lock = threading.Lock()

    def find_answer(self, notice: Notification) -> bool | None:
        """Whether it still waits; None where that cannot be seen now."""
        with self._lock:
            record = self.looker.facts(notice.name).record
            if record is not None and record.run == notice.run:
                verdict, about = _observe_session(self.looker, notice.name), report_change.change_subject(record)
            elif notice.fields.get("pane") and notice.server:
                verdict, about = _observe_pane(notice), None
            else:
                return False  # another run has its name by now, or nothing can show where it waits
            if verdict is None or verdict.state == "unknown":
                return None
            if is_still_waiting(notice.fields.get("cause", ""), verdict.state, verdict.turn):
                return True
            if not verdict.final and verdict.state in OPEN_STATES:
                self._report(verdict._replace(name=notice.name), about or _foreign_subject(notice), notice.project)
            return False

    def _report(self, verdict: Verdict, about: ChangeSubject, project: str) -> None:
        change = report_change.build_change(verdict, project, about, time.monotonic())
        if verdict.state in ("limited", "stuck"):
            return  # a monitor tells these, which knows what it does about them
        try:
            enqueue.enqueue_change(self.looker.directory, change)
        except RefusedError:
            pass  # nothing can be written now; the next look finds the same


def _observe_session(looker: JobDirectory, name: str) -> Verdict | None:
    troubles: list[str] = []
    verdict = snapshot.live_verdict(looker, name, troubles.append)
    return None if troubles else verdict


def _observe_pane(notice: Notification) -> Verdict | None:
    """The agent in a pane that is not ours; None where nobody can tell."""
    from midwatch.sessions import find_agent  # noqa: PLC0415  # few notices are about such panes

    pid, _, start = notice.run.partition("-")
    gone = Verdict(notice.name, "session", "not_found", True, "it is gone", "gone", "unknown", "not-found")
    if not (pid.isdecimal() and start.isdecimal() and processes.is_alive(int(pid), int(start))):
        return gone
    try:
        found = find_agent.find_agent(notice.server, notice.fields["pane"])
    except (MidwatchError, FormatError, OSError):
        return None
    try:
        return found.seen.verdict
    finally:
        found.close()


def _foreign_subject(notice: Notification) -> ChangeSubject:
    fields = notice.fields
    return ChangeSubject(
        notice.run, fields["agent"], fields["pane"], "", fields.get("who", ""), fields["attach"], notice.server
    )
