"""What can be seen, from outside, of the end of work that somebody else started, and of what it leaves running.

A pidfd that was opened while it lived says when its process has ended; how it ended is asked of the kernel, or, for
work of a foreign directory, of its files, which are judged as they are for anyone else.
"""

from __future__ import annotations

import os
import time

from midwatch.config import sentinel_files
from midwatch.core.errors import FormatError
from midwatch.core.job_model import Adopted, Alive, Gone, Identity, JobFacts, Process, StepStatus
from midwatch.core.verdict import Verdict
from midwatch.jobs import foreign_step_status
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.shim.terminate import build_end
from midwatch.system import exit_status, processes, procfs
from midwatch.system.processes import ProcessPlace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NEVER = float("inf")


class AdoptedProcess:
    def __init__(self, adopted: Adopted, work: Identity, pidfd: int, started: float, *, agent: bool = False) -> None:
        self.adopted = adopted
        self.work = work
        self.pidfd = pidfd
        self.started = started
        """Monotonic."""
        self.agent = agent
        """It is an agent in a pane."""
        self.place = ProcessPlace(work.host, work.boot, work.pidns, work.timens)
        self.again_at = NEVER
        """When to look again at what its directory says."""
        self.below: dict[int, int] = {}
        """Processes that were seen below it, with their start times: when it ends, nothing else leads to them."""
        self._status_since: float | None = None

    # While it lives

    def ended(self) -> bool:
        return exit_status.has_ended(self.pidfd)

    def suspended(self) -> bool:
        found = processes.find_process(self.work, self.place)
        return isinstance(found, Alive) and found.suspended

    def see_tree(self) -> None:
        found = processes.start_times(procfs.descendants(self.work.pid, besides=os.getpid(), jobs=False))
        self.below = {pid: self.below[pid] for pid in self.left()} | found

    def left(self) -> list[int]:
        """Those below it, and once below it, that are still there."""
        meant = {pid: self.work._replace(pid=pid, start=start) for pid, start in self.below.items()}
        return [pid for pid, each in meant.items() if isinstance(processes.find_process(each, self.place), Alive)]

    # Its end

    def end(self) -> dict[str, Any] | None:
        """How it ended, as the record holds it; None while it goes on."""
        ended = self.ended()
        if self.adopted.dir:
            return self._told(ended=ended)
        if not ended:
            return None
        found, why = exit_status.read_status(self.pidfd, self.work.pid, self.work.start)
        unknown = ("unknown", "exit-unseen", f"it ended, but its exit status is not known: {why}")
        return build_end(found, 0, unknown if found is None else None, self.elapsed(), self.left(), agent=self.agent)

    def ended_by_us(self, state: str, cause: str, reason: str, left: list[int]) -> dict[str, Any]:
        found = self._status() if self.ended() else None
        return build_end(found, 0, (state, cause, reason), self.elapsed(), left)

    def elapsed(self) -> float:
        return time.monotonic() - self.started

    def _told(self, *, ended: bool) -> dict[str, Any] | None:
        verdict = self._verdict(Gone(f"process {self.work.pid} has ended") if ended else None)
        self.again_at = NEVER if verdict.settled or verdict.look_at is None else verdict.look_at
        if not verdict.settled or not (verdict.final or ended):
            return None
        found, said = None, verdict.reason
        if verdict.state == "crashed":
            found = self._status()
            said += "" if found is None else f" ({exit_status.format_status(found)})"
        end = build_end(found, 0, (verdict.state, verdict.cause, said), self.elapsed(), [])
        return end if verdict.exit_code is None else end | {"exit_code": verdict.exit_code}

    def _verdict(self, gone: Gone | None) -> Verdict:
        """Of its directory, with what we know of its process, which is more than a pid file tells."""
        process: Process = gone or processes.find_process(self.work, self.place)
        now = time.monotonic()
        found = foreign_step_status.read_adopted(self.adopted, self.work.pid, process, now) or StepStatus()
        status, result = found.status, found.result
        self._status_since = None if status is None else now if self._status_since is None else self._status_since
        return job_verdict.judge(
            JobFacts(
                self.adopted.name, now, status=status, status_since=self._status_since, watched=True, result=result,
                earlier=found.earlier, open_until=found.open_until, shim=process,
            )
        )  # fmt: skip

    def _status(self) -> int | None:
        return exit_status.read_status(self.pidfd, self.work.pid, self.work.start)[0]

    def result(self) -> str | None:
        """What it left in its own directory, to be left in ours."""
        process = processes.find_process(self.work, self.place)
        told = foreign_step_status.read_adopted(self.adopted, self.work.pid, process, time.monotonic())
        if told is None or told.result is None:
            return None
        try:
            return sentinel_files.read(f"{self.adopted.dir}/{self.adopted.name}.result")
        except FormatError:
            return None
