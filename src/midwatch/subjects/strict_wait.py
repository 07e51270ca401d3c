"""`wait --policy strict`: a wait that ends the steps of a foreign directory when they hang or take too long.

Of several such waits the holder of a step's lease ends it. The others see it go, and say of it what was noted.
"""

from __future__ import annotations

import time

from midwatch.core.errors import RefusedError
from midwatch.core.job_model import Alive, JobFacts
from midwatch.core.verdict import Verdict
from midwatch.jobs import foreign_step_end, foreign_step_store
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.rules import adopted_text
from midwatch.jobs.wait_state import JobWatchState
from midwatch.system import procfs
from midwatch.system.file_locks import Lease

NEVER = float("inf")
AGAIN = 1.0
"""Seconds until a step that another wait is ending is looked at again: that wait may be killed."""


class StrictWait:
    def __init__(self, looker: JobDirectory) -> None:
        self.looker = looker
        self.policy = looker.policy
        self.timeouts: dict[tuple[str, int, int], float] = {}
        """By name, pid and start: when the time of that process is up (monotonic)."""

    def add_lost_time(self, gap: float) -> None:
        """Lost time does not count."""
        self.timeouts = {process: at + gap for process, at in self.timeouts.items()}

    def applied(self, facts: JobFacts, verdict: Verdict, memory: JobWatchState) -> Verdict:
        """The verdict on a step after the policy was applied to it."""
        if facts.record is not None or not isinstance(facts.shim, Alive):
            return verdict
        timeout_at = self._timeout(facts, facts.shim.pid)
        ending = adopted_text.required_end(facts, verdict, self.policy, timeout_at)
        if ending is None:
            return verdict._replace(look_at=min(verdict.look_at or NEVER, max(timeout_at, facts.now)))
        lease = foreign_step_store.step_lease(f"{self.looker.directory}/{facts.name}")
        try:
            if not _acquire(lease):
                return verdict._replace(settled=False, look_at=facts.now + AGAIN)
            return foreign_step_end.end_step(self.looker, facts.name, facts.shim.pid, ending, memory)
        except RefusedError as error:
            return _failed_end(verdict, ending, str(error))
        finally:
            lease.close()

    def _timeout(self, facts: JobFacts, pid: int) -> float:
        if self.policy.timeout_s is None or not (start := procfs.start_time(pid)):
            return NEVER
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - start / procfs.TICKS
        return self.timeouts.setdefault((facts.name, pid, start), facts.now - age + self.policy.timeout_s)


def _acquire(lease: Lease) -> bool:
    try:
        return lease.take()
    except OSError:  # nowhere to agree with others; to end it twice does no harm
        return True


def _failed_end(verdict: Verdict, ending: tuple[str, str, str], why: str) -> Verdict:
    """It should have been ended, and could not be."""
    state, _, reason = ending
    if state == "stuck":
        return verdict._replace(reason=f"{reason}; {why}")
    return verdict._replace(state="abandoned", final=True, cause="timeout", reason=f"{reason}; {why}")
