"""The monitor of one task directory: one blocking call that looks, judges, brings the task back, and says how it ended.

It sleeps until the kernel tells of a file, the end of a process, or until time alone may change the verdict. Of several
monitors of one directory the one that holds the lease acts; the others wait for what it says, and take over if it
dies. What it must remember is on disk before it acts, so it may be killed at any time. Its end never ends the session.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable

from midwatch.config import paths
from midwatch.core.errors import FormatError, MidwatchError, RefusedError, UsageError
from midwatch.core.job_model import Alive
from midwatch.core.text import signal_name
from midwatch.core.verdict import Verdict
from midwatch.jobs.loop_beat import LoopBeat
from midwatch.system import procfs
from midwatch.system.wakeup_sources import WakeupSources
from midwatch.taskdir import actions as hand
from midwatch.taskdir import codec
from midwatch.taskdir import resume as taskdir_resume
from midwatch.taskdir import store as taskdir_store
from midwatch.taskdir.agent_observer import TaskAgentObserver
from midwatch.taskdir.model import TaskFacts, TaskNotes, TaskNumbers, TaskPaneState, TaskStep
from midwatch.taskdir.observe import TaskObserver, find_living_processes, last_sign_of_life, read_text
from midwatch.taskdir.rules import action
from midwatch.taskdir.rules.verdict import judge
from midwatch.taskdir.session_observer import VARIABLE, format_command
from midwatch.tmux.sessions import TmuxSessions

LATE = 2.0
"""A wake-up later than this means that time was lost (suspend, SIGSTOP); lost time does not count."""
LONGEST_LOOK = 5.0
"""A look that took longer was stopped on the way: tmux is not waited for as long."""
SOON = 0.2
"""Seconds between looks for whoever acts, while he has not written down who he is."""
AGAIN = 2.0
"""Seconds between attempts to type where somebody else is typing."""
NAMES = frozenset(("done", "exit_code", "pid", "resume", taskdir_store.NOTES))

Ended = Callable[[Verdict, str, float], None]
"""Is told the verdict, which run of the task it is about, and its monotonic moment, which all monitors share."""


def monitor_task(
    session: str,
    directory: str,
    server: tuple[str, ...] = (),
    numbers: TaskNumbers | None = None,
    *,
    wrapper: str = "",
    cleanup: bool = False,
    tell: Callable[[Verdict], None] | None = None,
    ended: Ended | None = None,
) -> Verdict:
    """Watch a task to its end. Returns as `midwatch monitor` does: on final states, and on what a caller must be told.

    ``wrapper``: the script that is run again for a resume, if it was not seen at work. Where nobody knows one, the
    agent's own command goes on (``taskdir/resume.py``). ``cleanup``: at a final state close the capture and kill
    that session, unless the agent still runs. ``tell`` is called with what was seen whenever the task is resumed,
    ``ended`` once when the watch ends, also by a fault of ours.
    """
    watch = _Monitor(session.removeprefix("="), directory, server, numbers or TaskNumbers(), cleanup=cleanup, tell=tell)
    watch.ended = ended
    if wrapper:
        words = ("bash", os.path.abspath(wrapper))
        watch.notes = watch.notes._replace(command=format_command(words, {VARIABLE: watch.directory}))
    return watch.run()


class _Monitor:
    def __init__(
        self, session: str, directory: str, server: tuple[str, ...], numbers: TaskNumbers, *,
        cleanup: bool, tell: Callable[[Verdict], None] | None,
    ) -> None:  # fmt: skip
        self.session = session
        self.directory = os.path.realpath(directory)
        self.numbers = numbers
        self.cleanup = cleanup
        self.tell = tell
        self.began = time.monotonic()
        self.foreign = paths.find_sharing(os.path.abspath(directory))
        self.sense = TaskObserver(session, self.directory, server, self.foreign)
        self.hand = TmuxSessions(server, limit=LONGEST_LOOK)
        self.talk = TaskAgentObserver(server, self.directory)
        self.first = taskdir_store.read_text(self.directory)
        """Notes that were there before we asked for the lease: what stands in them is of others before us."""
        self.lease = taskdir_store.task_lease(self.directory)
        me = os.getpid()
        self.notes = TaskNotes(self.sense.boot, self.began, self.began, monitor=(me, procfs.start_time(me)))
        self.awake = self.began
        """When we last knew that we were not standing still."""
        self.leading = self.noted = False
        self.ended: Ended | None = None
        self.beat = LoopBeat()

    def run(self) -> Verdict:
        self.check()
        with contextlib.ExitStack() as held:
            for each in (self.lease, self.sense, self.talk):
                held.callback(each.close)
            self.alarm = held.enter_context(contextlib.closing(WakeupSources(self.directory, NAMES)))
            try:
                verdict = None
                while verdict is None:
                    verdict = self.attend()
            except BaseException:
                self.report(self.leave(self.gave_up("the monitor failed"), "monitor_failed"))
                raise
            self.report(verdict)
            return verdict

    def check(self) -> None:
        """A directory of another session is a slip of the finger: nothing may be typed into the wrong one."""
        for name in codec.MANIFESTS:
            with contextlib.suppress(FormatError):
                fields = codec.parse_manifest(name, read_text(f"{self.directory}/{name}") or "")
                named = str(fields.get("session_name") or self.session)
                if named not in (self.session, self.sense.panes.written):
                    raise UsageError(f"{self.directory} is of the session {named}, not of {self.session}")

    def attend(self) -> Verdict | None:
        """One round; the verdict when the watch is over."""
        if not self.acquire():
            return self.follow()
        before, began, asked = self.notes, self.awake, self.alarm.signals.asked
        facts = self.observe(before)
        self.awake = time.monotonic()
        if (lost := self.awake - began) > LONGEST_LOOK:
            self.note(action.shift_times(before, lost), before)
            return None
        step = action.plan_step(facts, before, self.numbers)
        if step.what == "derive":
            facts = facts._replace(recipe=taskdir_resume.derive_recipe(facts._replace(notes=step.notes)))
            step = action.plan_step(facts, before, self.numbers)
        self.note(step.notes, before)
        if step.what == "say":
            return self.finish(step.verdict, facts)
        if self.alarm.signals.asked and not asked:
            return None  # what is said of the task at our end is what a look has found since we were asked
        if asked:
            name = signal_name(asked)
            reason = f"the monitor was ended by {name}; the task was left as it is ({step.verdict.reason})"
            return self.leave(self.gave_up(reason), action.LEFT)
        over = None
        if step.what == "resume":
            over = self.resume(step, facts)
        elif step.what == "type":
            self.run_wrapper(facts)
        else:
            self.wait(step, facts)
        self.awake = time.monotonic()
        return over

    # Who acts

    def acquire(self) -> bool:
        """Whether we are the one who acts. Where nothing may be written, everyone watches for himself."""
        if self.leading or self.foreign or not os.path.isdir(self.directory):
            return True
        try:
            self.leading = self.lease.take()
        except OSError as error:
            self.foreign = self.sense.foreign = f"nothing can be written to {self.directory}: {error.strerror}"
            return True
        if self.leading and (text := taskdir_store.read_text(self.directory)):
            if self.other_verdict(text):
                self.leading = False
                self.lease.close()
            else:
                before = taskdir_store.decode_notes(text, self.session)
                self.notes = action.take_over_notes(before, self.notes, time.monotonic(), self.directory)
        return self.leading

    def other_verdict(self, text: str) -> Verdict | None:
        """What the monitor that acted beside us came to; None if it came to nothing, or has left."""
        notes = taskdir_store.decode_notes(text, self.session) if text != self.first else None
        return notes.verdict if notes and notes.verdict and notes.verdict.detail != action.LEFT else None

    def follow(self) -> Verdict | None:
        """Another monitor acts: wait for what it says, or for its end."""
        if said := self.other_verdict(text := taskdir_store.read_text(self.directory)):
            self.notes = taskdir_store.decode_notes(text, self.session) or self.notes
            return said
        if self.alarm.signals.asked or time.monotonic() >= self.began + self.numbers.deadline_s:
            why = signal_name(self.alarm.signals.asked) if self.alarm.signals.asked else "its deadline"
            return self.gave_up(f"this monitor was ended by {why}; another one goes on")
        acting = taskdir_store.decode_notes(taskdir_store.read_text(self.directory), self.session)
        known = acting is not None and acting.verdict is None and self.alarm.watch_ends({"monitor": acting.monitor})
        self.alarm.sleep(self.beat.after_pass(time.monotonic() + (self.numbers.interval(0) if known else SOON)))
        self.awake = time.monotonic()
        return None

    # Looking

    def observe(self, notes: TaskNotes) -> TaskFacts:
        interval = self.numbers.interval(notes.retry)
        self.sense.every = interval
        talk = TaskPaneState()
        if notes.agent[0] and notes.sources and not notes.gone_since:
            quiet = time.monotonic() - last_sign_of_life(notes.sources) >= self.numbers.stale_s / 2
            talk = self.talk.listen(notes.pane[0], notes.agent[0], interval, quiet=quiet)
        facts = self.sense.observe(notes, self.numbers.stale_s, talk)
        if self.leading and isinstance(facts.agent, Alive) and hand.is_given_up(facts):
            with contextlib.suppress(FormatError, OSError):
                hand.record_restart(self.directory, facts.pid)
        return facts

    def note(self, notes: TaskNotes, before: TaskNotes) -> None:
        """Remember, on disk too if that would let another monitor say something else."""
        self.notes = notes
        if self.leading and (not self.noted or action.comparable_notes(notes) != action.comparable_notes(before)):
            with contextlib.suppress(OSError):
                taskdir_store.write_notes(self.directory, notes)
                self.noted = True

    def wait(self, step: TaskStep, facts: TaskFacts) -> None:
        if not self.alarm.watch_ends(find_living_processes(facts)):
            self.sense.due = 0.0
            return
        until = min(step.at, self.sense.panes.again_at)
        if facts.notes.pane[0] and isinstance(facts.agent, Alive):
            until = min(until, self.talk.due if self.talk.agent == facts.pid else facts.now)
        until = self.beat.after_pass(until)
        if "pane" in self.alarm.sleep(until):
            self.sense.due = 0.0
        if (late := time.monotonic() - max(until, facts.now)) > LATE:
            self.note(action.shift_times(self.notes, late), self.notes)

    # Acting

    def resume(self, step: TaskStep, facts: TaskFacts) -> Verdict | None:
        """End what is left of it and make ready for its wrapper, which is run once its pane is back at a shell."""
        notes = step.notes
        if self.tell is not None:
            counted = f"{step.verdict.reason}; resumed ({notes.total} of {self.numbers.retries})"
            self.tell(step.verdict._replace(final=False, reason=counted))
        try:
            if isinstance(facts.agent, Alive) and not hand.is_alive(notes.agent):
                return None  # it ended by itself just now: how, is the truth
            taskdir_resume.prepare_resume(self.directory, notes, facts)
        except (RefusedError, OSError) as error:
            return self.finish(step.verdict._replace(reason=f"{step.verdict.reason}; not resumed: {error}"), facts)
        self.note(notes._replace(phase="ready"), notes)
        return None

    def run_wrapper(self, facts: TaskFacts) -> None:
        ready, pane = self.notes, facts.session.pane
        assert pane is not None
        if facts.done:  # by the shell of the agent that was ended
            hand.remove_end_files(self.directory, 0)
        self.note(ready._replace(phase="typed", resumed_at=time.monotonic()), ready)
        if self.hand.type_line(pane.id, pane.pid, ready.command):
            self.note(ready, self.notes)
            self.alarm.sleep(self.beat.after_pass(time.monotonic() + AGAIN))

    # Ending

    def finish(self, verdict: Verdict, facts: TaskFacts) -> Verdict:
        """Write down what nobody else will, clear away if that was wanted, and tell those who watch beside us."""
        if self.leading and facts.exists:
            code = self.notes.code if facts.code is None else facts.code
            try:
                if facts.done:
                    hand.complete_manifest(self.directory, verdict, code, facts.status, self.notes.total)
                else:
                    hand.write_end(self.directory, verdict, code, self.notes.total)
            except (OSError, MidwatchError) as error:
                verdict = verdict._replace(reason=f"{verdict.reason}; that could not be written down: {error}")
        if self.cleanup and verdict.final and not self.foreign and facts.session.there:
            if isinstance(facts.agent, Alive) and not facts.done:
                verdict = verdict._replace(reason=f"{verdict.reason}; its session was left, for the agent runs")
            elif why := self.hand.end_session(facts.session.name, self.notes.pane[0]):
                verdict = verdict._replace(reason=f"{verdict.reason}; its session could not be killed: {why}")
        self.note(self.notes._replace(verdict=verdict, ended_at=time.monotonic()), self.notes)
        return verdict

    def report(self, verdict: Verdict) -> None:
        if self.ended is not None:
            run = taskdir_resume.format_run_name(self.directory, self.notes)
            self.ended(verdict, run, self.notes.ended_at or time.monotonic())

    def leave(self, verdict: Verdict, reason: str) -> Verdict:
        """The end of this monitor comes before its task's. The task goes on, and the next monitor carries on."""
        if self.leading:
            with contextlib.suppress(OSError, MidwatchError):
                hand.update_manifest(self.directory, hand.abandoned_fields(reason))
            self.note(self.notes._replace(verdict=verdict, ended_at=time.monotonic()), self.notes)
        return verdict

    def gave_up(self, reason: str) -> Verdict:
        facts = TaskFacts(self.session, self.directory, time.monotonic(), self.notes)
        verdict = judge(facts, self.numbers)
        return verdict._replace(
            state="abandoned", final=True, cause="monitor-ended", reason=reason, settled=True, detail=action.LEFT
        )
