"""One look at one job: its files and processes.

Processes are looked at before files, because a process writes before it ends: whatever is read later is at least
as new.
"""

from __future__ import annotations

import os
import time

from midwatch.config import sentinel_files
from midwatch.core.errors import FormatError
from midwatch.core.foreign_text import ForeignText, escape_text
from midwatch.core.job_model import Alive, Gone, JobFacts, ProgressSource, StepStatus, StopRequest, Unseen
from midwatch.jobs import work_files
from midwatch.jobs.codec import sentinel
from midwatch.system import processes, procfs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from midwatch.core.job_model import Beat, End, Process, ProgressSnapshot, Record, WorkResult
    from midwatch.core.policy import Policy
    from midwatch.jobs.job_directory import JobDirectory
    from midwatch.jobs.lost_job import LostJob
    from midwatch.jobs.wait_state import JobWatchState

    Found = TypeVar("Found")


class JobObservation:
    """The state of one look: what was read so far, and what could not be."""

    def __init__(self, looker: JobDirectory, base: str, name: str) -> None:
        self.looker = looker
        self.name = name
        self.base = base
        self.now = time.monotonic()
        self.troubles: list[str] = []
        self.pid_written: int | None = None
        self.lost: LostJob | None = None

    def facts(self, memory: JobWatchState | None) -> JobFacts:
        record = self.record()
        if record is None and not sentinel_files.is_job(self.base):
            return self.missing()
        if record is not None and record.end is not None:
            return self.ended(record, memory)
        shim, work = self.processes(record, memory)
        told = StepStatus(self.status()) if record else self.step(shim, self.pid_written)
        if told.earlier is not None and memory is not None and memory.pid_written not in (None, self.pid_written):
            before = self.step(Gone(""), memory.pid_written)  # the run that a watcher waits for
            if before.status is not None and not processes.is_alive(*memory.process):
                told, shim = before, Gone(f"process {memory.process[0]} has ended, and the step runs again")
        status = told.status
        if record is not None and (status or isinstance(shim, Gone) or isinstance(work, Gone)):
            fresh = self.record()  # it ended while we looked: the end was written before the status
            if fresh is not None and fresh.run != record.run:
                return self.facts(memory)  # and it was started again: what we saw is not of this run
            if fresh is not None and fresh.end is not None:
                return self.ended(fresh, memory)
        result = told.result if record is None else self.result() if status else None
        if record and record.adopted and isinstance(shim, Gone) and isinstance(work, Gone) and not status:
            from midwatch.jobs import foreign_step_status  # noqa: PLC0415  # few are adopted

            theirs = foreign_step_status.read_adopted(
                record.adopted, record.work.pid, work, self.now
            )  # its supervisor is gone
            status, result = (theirs.status, theirs.result) if theirs else (None, None)
        seen = self.progress(record, shim, work, memory)
        stop = self.stop(record) if record is not None else None
        survivors, outlived = tuple[tuple[ForeignText, int], ...](), False
        if record is not None and isinstance(shim, Gone) and isinstance(work, Gone) and self.same_boot(record):
            from midwatch.jobs.lost_job import LostJob  # noqa: PLC0415  # few lose their shim

            self.lost = LostJob(self.base, record, stop, memory.held if memory else None)
            survivors, outlived = self.lost.survivors, self.lost.outlived(seen)
            if status is None and record.adopted is None and record.between is None:
                record = self.lost.worked_out(self.elapsed(record) or 0.0)
        return JobFacts(
            name=self.name, now=self.now, record=record, policy=None if record else self.looker.policy, status=status,
            status_since=memory.status_since if memory else None,
            watched=memory is not None, unseen_since=memory.unseen_since if memory else None,
            earlier=told.earlier, open_until=told.open_until, ending=self.ending(record, shim, status),
            pid_written=self.pid_written,
            result=result, shim=shim, work=work, seen=seen, survivors=survivors, stop=stop, outlived=outlived,
            beat=self.beat(record), log=self.log(record), elapsed_s=self.elapsed(record),
            troubles=tuple(self.troubles),
        )  # fmt: skip

    def missing(self) -> JobFacts:
        directory = self.looker.directory
        others = 0
        try:
            others = len(sentinel_files.list_jobs(directory))
        except FileNotFoundError:
            self.troubles.append(f"there is no directory {directory}")
        except OSError as error:
            self.troubles.append(f"cannot read {directory}: {error.strerror}")
        return JobFacts(self.name, self.now, exists=False, others=others, troubles=tuple(self.troubles))

    def ended(self, record: Record, memory: JobWatchState | None) -> JobFacts:
        brief = self.looker.brief
        status = None if brief else self.status()
        writing = memory is not None and status is None  # the record comes first, and whoever waits is woken by it
        return JobFacts(
            name=self.name, now=self.now, record=record, status=status, watched=memory is not None,
            shim=processes.find_process(record.shim, self.looker.place) if writing else Unseen("not looked at"),
            survivors=self.survivors(record),
            result=self.result(), log=self.log(record), beat=None if brief else self.beat(record),
            troubles=tuple(self.troubles),
        )  # fmt: skip

    def survivors(self, record: Record) -> tuple[tuple[ForeignText, int], ...]:
        """What is left of a run whose shim did not see to it."""
        if record.end is None or not record.end.unsupervised or not record.end.left or not self.same_boot(record):
            return ()
        from midwatch.jobs.lost_job import find_survivors  # noqa: PLC0415  # few lose their shim

        return find_survivors(record)

    def stop(self, record: Record) -> StopRequest | None:
        if not os.path.lexists(f"{self.base}.ending"):
            return None
        from midwatch.shim.terminate import read_stop  # noqa: PLC0415  # few are being stopped

        found = read_stop(self.base, record.run)
        if found is None:
            return None
        (state, cause, reason), (pid, start) = found
        by = (
            processes.find_process(record.shim._replace(pid=pid, start=start), self.looker.place)
            if pid
            else Gone("not begun")
        )
        return StopRequest(state, cause, escape_text(reason), by)  # type: ignore[arg-type]  # causes of a later version are passed on

    # Files

    def read(self, suffix: str) -> str | None:
        try:
            return sentinel_files.read(f"{self.base}.{suffix}")
        except FormatError as error:
            self.troubles.append(str(error))
            return None

    def parsed(self, suffix: str, codec: Callable[[str], Found]) -> Found | None:
        """What a file holds; None where there is none, or it cannot be read."""
        text = self.read(suffix)
        try:
            return None if text is None else codec(text)
        except FormatError as error:
            self.troubles.append(str(error))
            return None

    def record(self) -> Record | None:
        return self.parsed("json", sentinel.decode_record)

    def status(self) -> ForeignText | None:
        return self.parsed("status", ForeignText)

    def result(self) -> WorkResult | None:
        return self.parsed("result", sentinel.decode_result)

    def beat(self, record: Record | None) -> Beat | None:
        try:
            return work_files.read_beat(self.base, record)
        except FormatError as error:
            self.troubles.append(str(error))
            return None

    def log(self, record: Record | None) -> str | None:
        path = record.adopted.log if record and record.adopted else f"{self.base}.log"
        return path if os.path.exists(path) else None

    def age(self, suffix: str) -> float | None:
        try:
            return time.time() - os.lstat(f"{self.base}.{suffix}").st_mtime
        except OSError:
            return None

    def elapsed(self, record: Record | None) -> float | None:
        if record is None:
            return self.age("pid")
        ours = self.looker.place.shares_clock(record.shim)
        return self.now - record.started_mono if ours else time.time() - record.started

    def step(self, process: Process, pid_written: int | None) -> StepStatus:
        from midwatch.jobs import foreign_step_status  # noqa: PLC0415  # most jobs are ours

        return foreign_step_status.read_step(self.base, pid_written, process, self.now, self.troubles)

    def ending(self, record: Record | None, shim: Process, status: ForeignText | None) -> End | None:
        """How we ended a foreign step, if we did: all that it can say of that itself is FAILED."""
        if record is not None or not isinstance(shim, Gone) or (status is not None and status.raw.strip() != "FAILED"):
            return None
        from midwatch.jobs import foreign_step_store  # noqa: PLC0415  # few steps end so

        return foreign_step_store.read_end(self.base)

    # Processes

    def same_boot(self, record: Record) -> bool:
        return record.shim.boot == self.looker.place.boot

    def processes(self, record: Record | None, memory: JobWatchState | None) -> tuple[Process, Process]:
        if record is not None:
            place = self.looker.place
            return processes.find_process(record.shim, place), processes.find_process(record.work, place)
        try:
            found = sentinel_files.read_dated(f"{self.base}.pid")
            if found is None:
                return Unseen("there is no pid file"), Unseen("not known")
            self.pid_written = found[1]
            pid, written = sentinel.decode_pid(found[0]), found[1] / 1e9
        except FormatError as error:
            return Unseen(str(error)), Unseen("not known")
        if memory and memory.process == (pid, procfs.start_time(pid)):
            written = time.time()  # we know it: no clock that jumped can make it another's
        return processes.find_by_pid(pid, written, self.age("heartbeat")), Unseen("not known")

    # Movement

    def progress(
        self, record: Record | None, shim: Process, work: Process, memory: JobWatchState | None
    ) -> ProgressSnapshot | None:
        """The keeper's notes with a fresh look on top: nothing has moved unless nobody saw it move."""
        notes = self.notes(record)
        if memory and memory.seen is not None and (notes is None or memory.seen.at > notes.at):
            notes = memory.seen._replace(at=self.now)  # whoever remembers is the keeper, and this is its look
        if notes is None:
            return None
        policy = record.policy if record else self.looker.policy
        sources: procfs.Sources = {name: tuple(source) for name, source in notes.sources.items()}  # type: ignore[misc]
        wanted = {*policy.progress} | ({"heartbeat"} if "heartbeat" in sources else set())
        procfs.update_sources(sources, work_files.sample_files(self.base, wanted, record), self.now)
        if self.now - max((moved for _, _, moved in sources.values()), default=self.now) >= policy.stale_s / 2:
            procfs.update_sources(sources, self.consumption(notes, shim, work, record, policy), self.now)
        return notes._replace(sources={name: ProgressSource(*source) for name, source in sources.items()})

    def notes(self, record: Record | None) -> ProgressSnapshot | None:
        place = self.looker.place
        if record is None or record.shim.pidns != place.pidns or not place.shares_clock(record.shim):
            return None
        notes = self.parsed("seen", sentinel.decode_progress)
        return notes if notes is not None and notes.run == record.run and notes.boot == place.boot else None

    def consumption(
        self, notes: ProgressSnapshot, shim: Process, work: Process, record: Record | None, policy: Policy
    ) -> dict[str, float]:
        adopted = record is not None and record.adopted is not None
        if isinstance(shim, Alive) and not adopted:
            ours = isinstance(work, Alive | Gone)
            helper, cpu, io = notes.helper or self.looker.me, notes.own_cpu_s, notes.own_io
            cpu, io = procfs.measure_consumption(shim.pid, own=not ours, helper=helper, own_cpu=cpu, own_io=io)
        elif isinstance(work, Alive):
            keeper = shim.pid if isinstance(shim, Alive) else 0
            cpu, io = procfs.measure_consumption(work.pid, own=True, helper=keeper, own_cpu=0.0, own_io=0.0)
        else:
            return {}
        return {name: value for name, value in (("cpu", cpu), ("io", io)) if name in policy.progress}
