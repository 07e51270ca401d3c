"""The supervisor of work that somebody else started: the shim's part, played by one who is not its parent.

A process of its own, started by ``subjects/adopt.py``. It holds the name's lease, writes what a shim writes and
judges by the one judge. Its end it hears from a pidfd. All that it needs is imported at start, so an upgrade of
Midwatch cannot break it.

It leaves the work alone unless it was told otherwise. `midwatch stop` asks it by SIGUSR1: whoever sends TERM (the end
of a session, a guard of memory) means the keeper itself, and no work of others is ended for that.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import signal
import time

from midwatch.config import paths
from midwatch.core.job_model import Adopted, Identity, ProgressSnapshot, ProgressSource
from midwatch.core.policy import Policy
from midwatch.core.text import format_duration, signal_name
from midwatch.jobs import foreign_step_end
from midwatch.jobs.adopted_process import AdoptedProcess
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.rules import stall
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.jobs.stall_tracker import StallTracker, encode_progress
from midwatch.jobs.wait_state import JobWatchState
from midwatch.jobs.wakeups import TIMED_LOOK, JobWakeups
from midwatch.shim.announce import ParentChannel
from midwatch.shim.fork import catch_signals
from midwatch.shim.run_files import AGAIN, RunFiles, ignore_os_errors, new_record
from midwatch.shim.terminate import ENDINGS, build_end
from midwatch.system import procfs
from midwatch.system import terminate_tree as hand
from midwatch.system.atomic_files import StateDirectory, write_atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LATE = 2.0
"""A wake-up later than this means that time was lost (suspend, SIGSTOP, freezer); lost time does not count."""
LONGEST_SLEEP = 86400.0
NEVER = float("inf")


class AdoptedSupervisor:
    """One adopted subject, from its adoption to its end."""

    def __init__(self, spec: dict[str, Any]) -> None:
        head = spec["head"]
        self.control: int = spec["control"]
        self.pidfd: int = spec["stdio"][0]
        self.name: str = spec["name"]
        self.home = StateDirectory(spec["dir"])
        self.base = f"{self.home.way}/{self.name}"
        self.policy = Policy(**{**head["policy"], "progress": tuple(head["policy"]["progress"])})
        self.adopted = Adopted(**head["adopted"])
        self.looker = JobDirectory(spec["dir"], self.policy)
        pid, start = spec["work"]
        self.work = Identity(pid=pid, start=start, **self.looker.place._asdict())

        self.began = self.looked = self.ask_at = self.beat_at = time.monotonic()
        self.timeout_at = self.began + (self.policy.timeout_s or NEVER)
        self.suspended_since: float | None = None
        self.over = False

        age = time.clock_gettime(time.CLOCK_BOOTTIME) - self.work.start / procfs.TICKS
        self.record: dict[str, Any] = {
            **new_record(head, self.began), "started": time.time() - age, "started_mono": self.began - age,
            "work": {"pid": self.work.pid, "start": self.work.start},
            "states": [["working", time.time()]], "notes": spec["notes"],
        }  # fmt: skip
        self.notes = RunFiles(self.home.way, self.record)
        self.voice = ParentChannel(self.notes, self.control, spec["tell"])
        self.witness = AdoptedProcess(
            self.adopted, self.work, self.pidfd, self.began - age, agent=self.record["pane"] is not None
        )

    def run(self) -> None:
        inbox, _ = catch_signals()
        try:
            self.begin()
        except OSError as error:  # a full or read-only disk: nobody could be told anything
            self.notes.forget(".json", ".pid", ".heartbeat", ".seen")
            self.voice.say(f"refused\t{error.strerror}")
            return
        self.voice.say(f"started\t{self.work.pid}")
        os.close(self.control)
        with contextlib.ExitStack() as held:
            wakeups = held.enter_context(contextlib.closing(self.listen())) if self.adopted.dir else None
            self.serve(inbox, wakeups)

    def begin(self) -> None:
        """Everything that must be on disk before we say that it is kept."""
        self.voice.promise()
        self.notes.write_record()
        facts = self.looker.facts(self.name)._replace(now=self.began)
        seen = StallTracker(self.looker.directory, self.work.boot).begin(facts, self.policy)
        silent = {*self.policy.progress} - procfs.RATES.keys()  # what is not there yet is silent, too
        silences = dict.fromkeys(silent, ProgressSource(0.0, self.began, self.began))
        self.seen = seen._replace(sources=silences | seen.sources)
        write_atomic(self.base + ".pid", f"{os.getpid()}\n")
        os.close(os.open(self.base + ".heartbeat", os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600))
        self.write_seen()
        self.notes.spool(
            "started", pid=self.work.pid, attempt=1, policy=self.record["policy"], foreground=False, adopted=True
        )

    def listen(self) -> JobWakeups:
        wakeups = JobWakeups(self.adopted.dir, {self.adopted.name})
        for suffix in ("status", "result"):
            wakeups.watch_writes(self.adopted.name, f"{self.adopted.dir}/{self.adopted.name}.{suffix}")
        return wakeups

    # The loop

    def serve(self, inbox: int, wakeups: JobWakeups | None) -> None:
        poll = select.poll()
        for source in (inbox, self.pidfd, *([wakeups] if wakeups else ())):
            poll.register(source, select.POLLIN)
        due = self.began
        while True:
            now = time.monotonic()  # of the whole round: what is lost after it is found in the next one
            if (late := now - due) > LATE:
                self.shift(late)
                self.notes.spool("lost", seconds=round(late, 3))
            self.attend(now)
            if self.over:
                return
            due = self.next_due(timed=wakeups is not None and bool(wakeups.blind))
            ready = {fd for fd, _ in poll.poll(max(0.0, due - time.monotonic()) * 1000 + 1)}
            if wakeups is not None and wakeups.fileno() in ready:
                wakeups.sleep(0.0)
            for number in set(os.read(inbox, 4096)) if inbox in ready else ():
                self.on_signal(number)

    def next_due(self, *, timed: bool) -> float:
        now = time.monotonic()
        due = min(self.beat_at, self.witness.again_at, now + (TIMED_LOOK if timed else LONGEST_SLEEP))
        return due if self.suspended_since is not None else min(due, self.timeout_at, self.ask_at)

    def on_signal(self, number: int) -> None:
        if number == signal.SIGUSR1:
            self.stop(*ENDINGS[signal.SIGTERM])
        elif number in ENDINGS and not self.see_end():
            self.notes.remark(f"its keeper was told to go ({signal_name(number)}); the work was left as it is")
            self.over = True

    def attend(self, now: float) -> None:
        """Whatever woke us: see whether it has ended, stands still or moves, and what it is time for."""
        if self.over or self.see_end():
            return
        self.see_suspension(now)
        due = now >= self.beat_at
        if due:
            self.beat_at = now + self.policy.heartbeat_s
            self.beat()
            self.witness.see_tree()
        if self.suspended_since is None:
            if now >= self.timeout_at:
                self.time_is_up()
            elif due or now >= self.ask_at:
                self.observe()

    # Witnessing

    def see_end(self) -> bool:
        if (end := self.witness.end()) is not None:
            self.finish(end)
        return self.over

    def beat(self) -> None:
        self.voice.catch_up(time.monotonic())
        if self.adopted.dir or "heartbeat" not in self.policy.progress:  # else it is the work's own to touch
            ignore_os_errors(os.utime, self.base + ".heartbeat")

    def see_suspension(self, now: float) -> None:
        """No event tells of it. What lies between two looks counts as standing still if either saw it stand."""
        if self.witness.suspended():
            if self.suspended_since is None:
                self.suspended_since = self.looked
                self.notes.spool("suspended")
                self.write_seen()  # whoever waits is woken by it
        elif self.suspended_since is not None:
            gap = now - self.suspended_since
            self.suspended_since = None
            self.shift(gap)
            self.notes.spool("continued")
        self.looked = now

    def shift(self, gap: float) -> None:
        """Lost time does not count: move every moment that a deadline is reckoned from."""
        self.seen = stall.shift_times(self.seen, gap)
        self.timeout_at += gap
        self.ask_at += gap
        self.looked += gap
        if self.suspended_since is not None:
            self.suspended_since += gap
        self.write_seen()

    def observe(self) -> None:
        """Judge as every face does, and note what has come of its silence."""
        facts = self.looker.facts(self.name, JobWatchState(seen=self.seen))
        away = not facts.exists and self.home.is_away()
        self.ask_at = facts.now + (AGAIN if away else self.policy.heartbeat_s)  # also if the record cannot be read now
        if not away and (not facts.exists or (facts.record is not None and facts.record.end is not None)):
            self.over = True  # its files were removed, or another said that it is over: nobody is to be told anything
        elif facts.record is not None and facts.seen is not None:
            before, answer = self.seen, stall.instruct_shim(facts, self.policy)
            self.seen = stall.next_progress(job_verdict.judge(facts), facts.seen, self.policy, facts.now)
            self.ask_at = facts.now + answer.seconds
            if self.seen._replace(at=before.at) != before:
                self.write_seen()
                self.spool_change(before, answer.reason)
            if answer.what == "stop":
                self.stop("stuck", "no-progress", answer.reason)
            elif self.seen.stuck and not before.stuck:
                self.have_told()

    def have_told(self) -> None:
        self.voice.reap()
        self.voice.notify()

    def spool_change(self, before: ProgressSnapshot, reason: str) -> None:
        after, moved = self.seen, {name: source.moved for name, source in self.seen.sources.items()}
        was = max((source.moved for source in before.sources.values()), default=self.began)
        last = max(moved.values(), default=self.began)
        if after.stale_since is None and last > was:
            if before.stale_since is not None:
                self.notes.spool("moved", since=was, until=last)
            elif last - was > self.policy.heartbeat_s * 1.5:  # a look in between saw nothing move
                self.notes.spool("quiet", since=was, until=last)
        if before.stale_since is None and after.stale_since is not None:
            self.notes.spool("stale", reason=reason, judged=after.at, moved=moved)
        if after.stuck and not before.stuck:
            self.notes.spool("stuck", reason=reason, judged=after.at, moved=moved, stale_since=after.stale_since)
        if after.stuck != before.stuck:
            self.notes.enter("stuck" if after.stuck else "working")

    # Ending

    def time_is_up(self) -> None:
        forbidden = self.forbidden() or ("" if self.adopted.stop else "it was adopted without --stop")
        if not forbidden:
            self.stop("timeout", "timeout", "its time was up")
            return
        reason = f"not done after {format_duration(self.policy.timeout_s or 0.0)}; {forbidden}: it is left as it is"
        self.finish(build_end(None, 0, ("abandoned", "timeout", reason), self.witness.elapsed(), []))

    def forbidden(self) -> str:
        """Why nothing may be signalled, whoever says so."""
        return paths.find_sharing(self.adopted.dir) if self.adopted.dir else ""

    def stop(self, state: str, cause: str, reason: str) -> None:
        if self.over or self.witness.ended():
            return  # how it ended by itself is the truth
        if others := self.forbidden():
            self.notes.remark(f"{others}: nothing named there is signalled")
            return
        self.notes.spool("stopping", state=state, reason=reason)
        self.witness.see_tree()
        foreign_step_end.record_ending(
            self.adopted.dir, self.adopted.name, (state, cause, reason), self.witness.elapsed()
        )
        spare = tuple(self.record.get("spare", ()))
        left = hand.end_tree(lambda: {self.work.pid: self.work.start} | self.witness.below, spare=spare)
        ignore_os_errors(foreign_step_end.write_failed_status, self.adopted, self.work.pid)
        self.finish(self.witness.ended_by_us(state, cause, reason, left))

    def finish(self, end: dict[str, Any]) -> None:
        self.over = True
        self.record["end"] = end
        self.notes.enter(end["state"], save=False)
        result = self.witness.result()
        while result is not None and not self.home.write(f"{self.base}.result", result):
            time.sleep(AGAIN)  # a full disk: the verdict waits here, nothing is lost
        for _ in self.notes.write_end(self.home):
            self.beat()
        self.notes.spool("ended", **end)
        self.notes.wait_for_readers(self.home, told_of=self.voice.teller is not None)
        self.have_told()
        self.notes.make_durable()

    def write_seen(self) -> None:
        self.notes.write_seen(encode_progress(self.seen))


def main() -> None:
    with open(0, "rb", closefd=False) as said:
        spec = marshal.loads(said.read())  # noqa: S302  # from our own parent, over a private pipe
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    for fd in {*spec["stdio"], spec["control"], spec["lock"]}:
        os.set_inheritable(fd, False)
    AdoptedSupervisor(spec).run()
