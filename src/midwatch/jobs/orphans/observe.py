"""Reads this user's processes with their marks, and what became of the jobs and sessions that those name."""

from __future__ import annotations

import os
import time

from midwatch.agents import catalog
from midwatch.config import paths, sentinel_files
from midwatch.core import names
from midwatch.core.foreign_text import ForeignText
from midwatch.core.job_model import Alive
from midwatch.core.policy import PATIENT
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.orphans import rules
from midwatch.jobs.orphans.model import Mark, Origin, Orphan, OwnProcess
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.shim import drop_box
from midwatch.system import process_tree, procfs
from midwatch.system.listening_sockets import ListeningSockets

PARENT, START, PAGES = 1, 19, 21
"""Where fields of /proc/PID/stat stand, counted from the third."""
PAGE = os.sysconf("SC_PAGE_SIZE")
KEEPING = (procfs.SHIM, procfs.KEEPER, procfs.ENTERING)
HELPING = (procfs.BESIDE, procfs.CAPTURING)
PROGRAM = "midwatch"


class OrphanObserver:
    """Orphans of one sentinel directory, or of all (``directory`` is empty)."""

    def __init__(self, directory: str) -> None:
        self.directory = os.path.realpath(directory) if directory else ""
        self.apart = frozenset(process_tree.list_ancestry(os.getpid()))
        self.daemons = tuple(sign for each in catalog.load_all() if each.start for sign in each.start.daemons)
        self.doubted: dict[str, str] = {}
        """Directories whose records are not believed, with the reason."""

    def observe(self) -> tuple[Orphan, ...]:
        processes = self._read_processes()
        marks = {each.mark for each in processes.values() if each.mark is not None}
        origins = {mark: origin for mark in marks if (origin := self._find_origin(mark)) is not None}
        found = rules.find_orphans(processes, origins, self.apart, self.daemons, ListeningSockets().of)
        adopted = self._find_adopted({each.mark.directory for each in found})
        if not any(processes[pid].start == start for pid, start in adopted.items() if pid in processes):
            return found
        kept = {
            pid: each._replace(keeps_job=each.keeps_job or adopted.get(pid) == each.start)
            for pid, each in processes.items()
        }
        return rules.find_orphans(kept, origins, self.apart, self.daemons, ListeningSockets().of)

    def _find_adopted(self, directories: set[str]) -> dict[int, int]:
        """Processes (pid and start) that somebody has made jobs of their own since."""
        found = {}
        for directory in directories:
            looker = JobDirectory(directory, PATIENT, brief=True)
            for name in sentinel_files.list_jobs(directory):
                facts = looker.facts(name)
                if facts.record is not None and facts.record.adopted is not None and isinstance(facts.work, Alive):
                    found[facts.work.pid] = facts.record.work.start
        return found

    def _read_processes(self) -> dict[int, OwnProcess]:
        now, user = time.clock_gettime(time.CLOCK_BOOTTIME), os.geteuid()
        found = {}
        for entry in filter(str.isdecimal, os.listdir("/proc")):
            try:
                if os.stat(f"/proc/{entry}").st_uid == user:
                    process = self._read_process(int(entry), now)
                    found[process.pid] = process
            except (OSError, ValueError, IndexError):
                continue  # it has ended meanwhile, or may not be read
        return found

    def _read_process(self, pid: int, now: float) -> OwnProcess:
        fields = procfs.stat_fields(pid)
        if procfs.is_dead(fields):
            raise ProcessLookupError(pid)
        words = procfs.read_text(f"/proc/{pid}/cmdline").rstrip("\0").split("\0")
        mark = self._read_mark(pid)
        if int(procfs.stat_fields(pid)[START]) != int(fields[START]):
            raise ProcessLookupError(pid)
        return OwnProcess(
            pid=pid, parent=int(fields[PARENT]), start=int(fields[START]),
            command=ForeignText(" ".join(words) or f"[{procfs.command_name(pid)}]"),
            age_s=max(0.0, now - int(fields[START]) / procfs.TICKS), cpu_s=procfs.cpu_seconds(fields, own=True),
            memory=int(fields[PAGES]) * PAGE, mark=mark, keeps_job=_begins_with(words, KEEPING), own=_is_own(words),
        )  # fmt: skip

    def _read_mark(self, pid: int) -> Mark | None:
        told = process_tree.read_environment(pid)
        box, name, run = (told.get(f"MIDWATCH_{key}", "") for key in ("DIR", "NAME", "RUN"))
        if not box or not run or names.find_problem(name):
            return None
        directory = os.path.realpath(drop_box.find_state_directory(box, name))
        return Mark(directory, name, run)

    def _find_origin(self, mark: Mark) -> Origin | None:
        """What became of a run; None where that is not known, or is not asked for."""
        if self.directory not in ("", mark.directory) or mark.directory in self.doubted:
            return None
        if not os.path.isdir(mark.directory):
            return None  # moved or covered for a while, or seen only in a sandbox: its jobs may be alive
        if others := paths.find_sharing(mark.directory):
            self.doubted[mark.directory] = others
            return None
        looker = JobDirectory(mark.directory, PATIENT)
        facts = looker.facts(mark.name)
        if facts.record is None or facts.record.run != mark.run:
            earlier = looker.archived(mark.name, mark.run)
            if earlier is None:
                return Origin(alive=False, state=rules.GONE)
            facts = earlier
        verdict = job_verdict.judge(facts)
        return Origin(alive=not verdict.final, state=verdict.state)


def _begins_with(words: list[str], programs: tuple[list[str], ...]) -> bool:
    return any(words[1 : len(program) + 1] == program for program in programs)


def _is_own(words: list[str]) -> bool:
    """Whether it is a program of Midwatch: `midwatch …`, `python -m midwatch …`, or a helper of one."""
    named = any(os.path.basename(word) == PROGRAM for word in words[:2]) or words[1:3] == ["-m", PROGRAM]
    return named or _begins_with(words, HELPING)
