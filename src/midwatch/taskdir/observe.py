"""One look at a task directory: its files, the agent's process, what of it moved.

Processes are looked at before files, because a wrapper writes before it ends. Silence is what *we* saw: a file's time
only tells when, between two looks, something was written; no clock that was set can make a file old or keep it fresh.
"""

from __future__ import annotations

import os
import stat
import time

from midwatch.core.errors import FormatError
from midwatch.core.foreign_text import ForeignText
from midwatch.core.job_model import Alive, Gone, Process, ProgressSource, Unseen
from midwatch.jobs.codec import sentinel
from midwatch.system import exit_status, processes, procfs
from midwatch.system.atomic_files import read_plain
from midwatch.taskdir import codec as taskdir_codec
from midwatch.taskdir.model import TaskAgent, TaskFacts, TaskNotes, TaskPaneState, TaskSession
from midwatch.taskdir.session_observer import (
    TaskSessionObserver,
    find_wrapper,
    list_ancestors,
    read_group,
    wrapper_command,
)

LARGEST = 1 << 24
SIGNALLED = 128
NOBODY = (0, 0)
NOTHING_SHOWN = TaskPaneState()


def read_text(path: str) -> str | None:
    """Text of a file, None when there is none. Links, pipes and other traps raise FormatError.

    Bytes that are no UTF-8 become surrogates, so that what is read can be written back.
    """
    name = os.path.basename(path)
    try:
        return read_plain(path, LARGEST).decode("utf-8", "surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if os.path.islink(path):
            raise FormatError(f"{name} is a symbolic link; it is not followed") from error
        raise FormatError(f"{name} cannot be read: {error.strerror}") from error


def is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


class TaskObserver:
    """Looks at one task again and again. Keeps a pidfd of the agent, to be told how it ended."""

    def __init__(self, session: str, directory: str, server: tuple[str, ...], foreign: str) -> None:
        self.name = session
        self.directory = directory
        self.foreign = foreign
        self.boot = procfs.boot_id()
        self.panes = TaskSessionObserver(session, server)
        self.session = TaskSession(None, "not looked at")
        self.every = 0.0
        """Seconds after which the session is looked at again although the agent lives."""
        self.due = 0.0
        self._pids: list[int] = []
        self._held: tuple[int, int, int] | None = None
        self._troubles: list[str] = []

    def observe(self, notes: TaskNotes, stale_s: float, talk: TaskPaneState = NOTHING_SHOWN) -> TaskFacts:
        """What is there now. ``talk``: what the agent's pane shows."""
        self._troubles = []
        now = time.monotonic()
        agent, pid, start = self._agent(notes)
        exists = os.path.isdir(self.directory)
        fields = self._manifest()
        done, code = is_file(f"{self.directory}/done"), self._code()
        if done and code is None:
            code = taskdir_codec.find_exit_code(fields)
        alive = isinstance(agent, Alive)
        chain = list_ancestors(pid) if alive else []
        if now >= min(self.due, self.panes.again_at) or not alive or (pid, start) != notes.agent:
            self.session, self._pids = self.panes.observe(notes, chain)
            self.due = now + self.every
        notes = self._met(notes, chain, start, now) if alive else self._lost(notes, agent, pid)
        if alive:
            notes = self._moved(_add_agent(notes, talk.worker), pid, now, stale_s, talk)
        last = max((source.moved for source in notes.sources.values()), default=now)
        return TaskFacts(
            name=self.name, directory=self.directory, now=now, notes=notes, exists=exists, done=done, code=code,
            status=str(fields.get("status", "")), manifest=fields,
            marker=is_file(f"{self.directory}/resume"), turn=talk.turn,
            agent=agent, pid=pid, start=start, wrapper=self._wrapper(notes, chain), session=self.session,
            below=_processes_below(pid) if alive and now - last >= stale_s else (), foreign=self.foreign,
            rival=self._rival(),
            elapsed_s=_elapsed(fields), log=self._log(), troubles=tuple(self._troubles),
        )  # fmt: skip

    def close(self) -> None:
        if self._held is not None:
            os.close(self._held[2])
            self._held = None

    # Files

    def _read(self, name: str) -> str | None:
        try:
            return read_text(f"{self.directory}/{name}")
        except FormatError as error:
            self._troubles.append(str(error))
            return None

    def _manifest(self) -> dict[str, object]:
        for name in taskdir_codec.MANIFESTS:
            text = self._read(name)
            if text is not None:
                try:
                    return taskdir_codec.parse_manifest(name, text)
                except FormatError as error:
                    self._troubles.append(str(error))
        return {}

    def _code(self) -> int | None:
        text = self._read("exit_code")
        return None if text is None else taskdir_codec.parse_exit_code(text)

    def _log(self) -> str | None:
        path = f"{self.directory}/output.log"
        return path if os.path.exists(path) else None

    # The agent

    def _pid(self, name: str) -> tuple[int, float]:
        """The pid that a file holds, and when it was written; 0 where there is no file. FormatError or OSError."""
        text = read_text(f"{self.directory}/{name}")
        return (0, 0.0) if text is None else (sentinel.decode_pid(text), os.lstat(f"{self.directory}/{name}").st_mtime)

    def _rival(self) -> int:
        try:
            pid, written = self._pid("monitor.pid")
        except (FormatError, OSError):
            return 0
        there = pid not in (0, os.getpid()) and isinstance(processes.find_by_pid(pid, written, None), Alive)
        return pid if there else 0

    def _agent(self, notes: TaskNotes) -> tuple[Process | None, int, int]:
        try:
            pid, written = self._pid("pid")
        except (FormatError, OSError) as error:
            return Unseen(str(error)), 0, 0
        if not pid:
            return None, 0, 0
        start = procfs.start_time(pid)
        if notes.boot == self.boot and notes.agent == (pid, start):
            written = time.time()  # we know it: no clock that jumped can make it another's
        return processes.find_by_pid(pid, written, None), pid, start

    def _met(self, notes: TaskNotes, chain: list[int], start: int, now: float) -> TaskNotes:
        """Who the agent is, who started it, and where. A new one begins with a clean slate."""
        pid = chain[0]
        if (pid, start) != notes.agent:
            notes = notes._replace(
                agent=(pid, start), wrapper=NOBODY, group=read_group(pid), code=None, met=now,
                worker=notes.worker if notes.phase == "typed" else TaskAgent(),  # one that we started, or another
                gone_since=None, stale_since=None, stuck=False,
                sources={"output": ProgressSource(self._size()[0], now, now)},
            )  # fmt: skip
        if self._held is None or self._held[:2] != (pid, start):
            self._hold(pid, start)
        wrapper = find_wrapper(chain, self._pids)
        if wrapper and notes.wrapper[0] != wrapper:
            pane = self.session.pane
            command = wrapper_command(wrapper, pane.pid, self.directory) if pane else ""
            if command in ("", taskdir_codec.script_command(self.directory)):  # ours is never in the place of another
                command = notes.command
            notes = notes._replace(wrapper=(wrapper, procfs.start_time(wrapper)), command=command)
        if self.session.pane is not None and self.session.pane.pid in chain:
            notes = notes._replace(pane=(self.session.pane.id, self.session.pane.pid))
        return notes

    def _hold(self, pid: int, start: int) -> None:
        self.close()
        pidfd = processes.watch_exit(pid)
        if pidfd is not None:
            self._held = (pid, start, pidfd)
            if procfs.start_time(pid) != start:  # it ended just now, and its pid may be another's
                self.close()

    def _lost(self, notes: TaskNotes, agent: Process | None, pid: int) -> TaskNotes:
        """How the agent ended, if the kernel still tells: asked at once, for its parent may be about to take it."""
        held = self._held
        if held is None or not isinstance(agent, Gone) or held[0] != pid or held[:2] != notes.agent:
            return notes
        found, _ = exit_status.read_status(held[2], held[0], held[1])
        self.close()
        if found is None:
            return notes
        ended = SIGNALLED + os.WTERMSIG(found) if os.WIFSIGNALED(found) else os.WEXITSTATUS(found)
        return notes._replace(code=ended)

    def _wrapper(self, notes: TaskNotes, chain: list[int]) -> Process:
        pid, start = notes.wrapper
        if pid:
            return Alive(pid, "?") if processes.is_alive(pid, start) else Gone(f"process {pid} has ended")
        if chain and self.session.there and not set(chain[1:]) & set(self._pids):
            return Gone("the agent is not below a pane of its session any more")
        return Unseen("it was not seen")

    # Movement

    def _size(self) -> tuple[float, float]:
        """Size of the log, and when it was last written to (wall clock); nothing is as good as an empty one."""
        try:
            found = os.lstat(f"{self.directory}/output.log")
        except OSError:
            return 0.0, 0.0
        return float(found.st_size), found.st_mtime

    def _moved(self, notes: TaskNotes, pid: int, now: float, stale_s: float, talk: TaskPaneState) -> TaskNotes:
        sources = dict(notes.sources)
        size, written = self._size()
        printed = sources["output"]
        moved = printed.moved
        if size != printed.value:
            moved = min(max(now - (time.time() - written), printed.at), now)
        sources["output"] = printed = ProgressSource(size, now, moved)
        if talk.wrote is not None:
            spoke = sources.get("transcript", ProgressSource(0.0, notes.met, notes.met))
            moved = min(max(now - (time.time() - talk.wrote), spoke.at), now)
            sources["transcript"] = ProgressSource(talk.wrote, now, moved if talk.wrote != spoke.value else spoke.moved)
        if talk.screen is not None:
            shown = sources.get("screen", ProgressSource(talk.screen, now, notes.met))
            sources["screen"] = ProgressSource(talk.screen, now, now if talk.screen != shown.value else shown.moved)
        if "cpu" not in sources or now - last_sign_of_life(sources) >= stale_s / 2:
            used = procfs.measure_consumption(pid, own=True, helper=0, own_cpu=0.0, own_io=0.0)
            for name, value in zip(procfs.RATES, used, strict=True):
                sources[name] = _usage_source(name, value, sources.get(name), printed.moved, now)
        return notes._replace(sources=sources)


def _add_agent(notes: TaskNotes, seen: TaskAgent) -> TaskNotes:
    """With what was seen of the agent: what a later look does not tell, an earlier one still does."""
    if not seen.agent:
        return notes
    before = notes.worker if notes.worker.agent in ("", seen.agent) else TaskAgent()
    options = before.options if seen.options is None else seen.options
    return notes._replace(worker=seen._replace(conversation=seen.conversation or before.conversation, options=options))


def find_living_processes(facts: TaskFacts) -> dict[str, tuple[int, int]]:
    """Whose end may change what is said of a task: pid and start of each."""
    who = {"agent": (facts.pid, facts.start)} if isinstance(facts.agent, Alive) else {}
    if isinstance(facts.wrapper, Alive):
        who["wrapper"] = facts.notes.wrapper
    if facts.session.pane and (start := procfs.start_time(facts.session.pane.pid)):
        who["pane"] = (facts.session.pane.pid, start)
    return who


def last_sign_of_life(sources: dict[str, ProgressSource]) -> float:
    """When the agent last said anything, whatever it uses."""
    return max(source.moved for name, source in sources.items() if name not in procfs.RATES)


def _usage_source(name: str, value: float, before: ProgressSource | None, printed: float, now: float) -> ProgressSource:
    """What moves all the time counts from a rate on. What was used before the last output tells nothing new."""
    if before is None:
        return ProgressSource(value, now, now)
    span = now - before.at
    if span < procfs.RATE_SPAN:
        return before
    busy = before.at >= printed and value - before.value >= procfs.RATES[name] * span
    return ProgressSource(value, now, now if busy else before.moved)


def _processes_below(pid: int) -> tuple[tuple[ForeignText, int], ...]:
    return tuple((ForeignText(procfs.command_name(each)), each) for each in procfs.descendants(pid))


def _elapsed(fields: dict[str, object]) -> float | None:
    began, ended = (
        taskdir_codec.parse_time(fields.get("started_at")),
        taskdir_codec.parse_time(fields.get("finished_at")),
    )
    if began is None:
        return None
    return max(0.0, (time.time() if ended is None else ended) - began)
