"""`story-automator monitor-session`: one call that says what became of a session, and exits 0 whatever that was.

Whoever watches may fail; that is not the step's failure. Then the session and the files of the project are asked
directly, and what they say is told.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from midwatch.agents import catalog
from midwatch.compat.story_automator import project, result_mapping, screen_fields, sessions, story_verification
from midwatch.compat.story_automator.arguments import Arguments
from midwatch.compat.story_automator.result_mapping import StoryResult
from midwatch.compat.story_automator.story_verification import StoryVerification
from midwatch.config import paths
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.job_model import PaneRef, Record
from midwatch.core.text import signal_name, visible
from midwatch.core.verdict import Verdict
from midwatch.jobs.loop_beat import LoopBeat
from midwatch.sessions.model import MonitorOptions
from midwatch.sessions.monitor import SessionMonitor
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.rules import monitor as sessions_monitor
from midwatch.sessions.targets import ForeignPane, ManagedSession, TargetView
from midwatch.sessions.verify import find_start_time
from midwatch.verification.model import VerificationResult

USAGE = """\
Usage: monitor-session <session_name> [options]
Options: --timeout MIN (60) --json --verbose --project-root PATH --workflow TYPE --story-key KEY
Accepted, without effect: --max-polls N --initial-wait N --agent TYPE --state-file PATH
"""
VALUES = (
    "--max-polls", "--initial-wait", "--timeout", "--project-root", "--agent", "--workflow", "--story-key",
    "--state-file",
)  # fmt: skip
TIMEOUT = 60.0
MINUTE = 60.0
UNBEGUN = 60.0
"""Seconds after which an agent at its prompt will not begin by itself any more."""
AGAIN = 1.0
KILLED = 128


class _InterruptedError(Exception):
    """Somebody ended this call, and not the session."""

    def __init__(self, number: int) -> None:
        self.number = number


def main(words: list[str]) -> int:
    given = Arguments(words, VALUES)
    if given.flag("--help"):
        print(USAGE, end="")
        return 0
    if len(given.names) != 1:
        raise UsageError(USAGE.rstrip())
    session, minutes = project.check_session(given.names[0]), given.number("--timeout", TIMEOUT)
    caller = project.resolve_project(given.text("--project-root"))
    try:
        _Watch(caller, session, minutes, given).run()
    except _InterruptedError as interrupted:
        return KILLED + interrupted.number
    return 0


class _StoryMonitor(SessionMonitor):
    """A monitor for which the files of the story tell whether the work is there; what it says, `ls` says too."""

    def __init__(
        self, subject: ManagedSession | ForeignPane, wanted: MonitorOptions, say: Callable[[Verdict], None],
        truth: Callable[[Record | None], StoryVerification],
    ) -> None:  # fmt: skip
        super().__init__(subject, wanted, say)
        self.truth = truth
        self.found: StoryVerification | None = None
        """What they told in the end."""

    def verified(self, view: TargetView, said: Verdict) -> Verdict:
        found = self.found = self.truth(view.record)
        return sessions_monitor.apply_verification(
            said, None if found.done is None else VerificationResult(found.done, found.says)
        )


class _Watch:
    def __init__(self, caller: str, session: str, minutes: float, given: Arguments) -> None:
        self.caller = caller
        self.root = sessions.find_project(session, caller)
        self.session = session
        self.minutes = minutes
        self.verbose = given.flag("--verbose")
        self.json = given.flag("--json")
        self.told = False
        self.looker = sessions.job_observer(self.root)
        named = project.parse_name(session)
        self.step = given.text("--workflow") or (named.step if named else "")
        self.story = given.text("--story-key") or (named.story if named else "")
        self.seat: PaneRef | None = None
        self.until = time.monotonic() + minutes * MINUTE
        self.live: Verdict | None = None

    def run(self) -> None:
        try:
            self.watch()
        except (_InterruptedError, KeyboardInterrupt, UsageError):
            raise
        except Exception as error:
            if self.told:
                raise
            self.print_result(self.fallback(error))  # whatever breaks a monitor, the step may be done

    def print_result(self, found: StoryResult) -> None:
        """Say what became of it, with what it has shown; once."""
        text = sessions.last_shown_output(self.looker, self.session, self.seat)
        done, total = screen_fields.count_todos(text)
        try:
            path = sessions.save_output(self.root, self.session, text)
        except OSError as error:
            self.say(f"its output cannot be written: {error.strerror}")
            path = ""
        found = found._replace(todos_done=done, todos_total=total, output_file=path)
        if self.root != self.caller:
            self.say(f"its own project is {self.root}, and its files decide; those of {self.caller} do not count")
            found = found._replace(project=self.root, caller_project=self.caller)
        print(found.as_json() if self.json else found.as_csv(), flush=True)
        self.told = True

    def watch(self) -> None:
        record = sessions.find_record(self.looker, self.session)
        if record is not None:
            self.seat = record.pane
            self.watched(ManagedSession(self.looker, self.session, self.looker.policy), record)
        elif isinstance(subject := self.stranger(), StoryResult):
            self.print_result(subject)
        else:
            self.watched(subject, None)

    def watched(self, subject: ManagedSession | ForeignPane, record: Record | None) -> None:
        wanted = MonitorOptions(
            max(self.until - time.monotonic(), AGAIN), on_limit="watch", afresh=True, unbegun_s=UNBEGUN
        )
        monitor = _StoryMonitor(subject, wanted, self.progress, self.truth)

        def over(verdict: Verdict) -> None:
            if verdict.state != "abandoned":
                self.progress(verdict)
                self.print_result(result_mapping.map_result(verdict, monitor.found or self.truth(record)))
            elif not monitor.alarm.signals.asked:
                live = monitor.view.verdict if monitor.view else verdict
                self.print_result(result_mapping.map_timeout(live, self.minutes, self.truth(record)))

        monitor.run(over)
        if not self.told:
            number = monitor.alarm.signals.asked
            self.say(f"ended by {signal_name(number)}; the session goes on")
            raise _InterruptedError(number)

    def stranger(self) -> ForeignPane | StoryResult:
        """A session that is not ours, once an agent is to be seen in it; or what became of it before."""
        panes = PaneObserver(catalog.load_all(), paths.hook_spool(), (), self.looker.policy)
        missed, beat, idle = 0, LoopBeat(), None
        while True:
            there = sessions.find_session(self.session)
            missed = missed + 1 if there is None or there.dead else 0
            if there is None and missed > 1:  # absence counts when two looks agree
                return StoryResult("not_found", "session_gone", self.truth(None).done is True)
            if there is not None:
                self.seat = there.seat
                if (over := sessions.find_end(there, sure=missed > 1)) is not None:
                    return result_mapping.map_result(over, self.truth(None))
                looked = panes.observe(there.seat.id)
                if looked.seen:
                    return ForeignPane(panes, looked.seen[0], self.session, self.looker.directory)
            shell, now = there and sessions.find_idle_shell(there), time.monotonic()
            idle = (idle or now) if shell else None
            if now >= self.until or (idle is not None and now >= idle + UNBEGUN):
                why = "no agent was seen in it"
                unseen = Verdict(self.session, "session", "unknown", False, why, "unknown", "unknown", "not-seen")
                return result_mapping.map_timeout(shell or unseen, self.minutes, self.truth(None))
            time.sleep(max(0.0, beat.after_pass(time.monotonic() + AGAIN) - time.monotonic()))

    def truth(self, record: Record | None) -> StoryVerification:
        if not self.step:
            return StoryVerification(done=None, reason="normal_completion", says="its name tells no step")
        return story_verification.verify_step(
            self.root, self.step, self.story, find_start_time(record) if record else None
        )

    def fallback(self, error: Exception) -> StoryResult:
        """The watch has failed: what do the session and the project's files say?"""
        self.say(f"monitoring failed ({type(error).__name__}: {error}); the session and the project are asked directly")
        found = self.truth(sessions.find_record(self.looker, self.session))
        try:
            there = sessions.find_session(self.session)
            self.seat = there.seat if there else self.seat
        except RefusedError as trouble:
            self.say(str(trouble))
            return StoryResult("incomplete", "monitor_failed_unknown", found.done is True)
        if found.done:
            return StoryResult("completed", "monitor_failed_verified_complete", True)
        if there is None:
            return StoryResult("not_found", "monitor_failed_session_gone")
        return StoryResult("incomplete", "monitor_failed_session_there")

    def progress(self, verdict: Verdict) -> None:
        if self.verbose:
            self.say(f"{verdict.state}: {verdict.reason}")

    def say(self, words: str) -> None:
        print(f"[{time.strftime('%H:%M:%S')}] {visible(self.session)}: {visible(words)}", file=sys.stderr, flush=True)
