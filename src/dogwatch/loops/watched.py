"""What a monitor can watch: a session of ours, or an agent in a pane that somebody else opened."""

from __future__ import annotations

import os
import time

from dogwatch import proc
from dogwatch.formats import tmux as codec
from dogwatch.hands.panes import PaneHand
from dogwatch.judge import job
from dogwatch.loops import notify
from dogwatch.loops.look import Looker
from dogwatch.loops.panes import Panes, Seen
from dogwatch.loops.sessions import Session
from dogwatch.loops.stop import end
from dogwatch.model.errors import RefusedError
from dogwatch.model.facts import Alive, Record
from dogwatch.model.notices import About
from dogwatch.model.policy import Policy
from dogwatch.model.turns import SessionMemory
from dogwatch.model.value import Value
from dogwatch.model.verdict import Verdict
from dogwatch.senses import exits, processes
from dogwatch.senses.control import Control
from dogwatch.store import places

SECOND_LOOK = 1.0
"""Seconds between the two looks that must both miss a pane before it is gone."""


class View(Value):
    """One look at what is watched."""

    verdict: Verdict
    about: About
    """Whom notices are about."""
    ends: dict[str, tuple[int, int]]
    """Processes (pid and start) whose end is worth a look."""
    files: set[str]
    """What the agent writes to when it goes on."""
    record: Record | None = None
    agent: tuple[int, int] = (0, 0)
    memory: SessionMemory | None = None
    cwd: str = ""
    began: float | None = None
    """Where no record tells it: its directory, and when its work began (wall)."""


class Ours:
    """A session that Dogwatch started or adopted."""

    def __init__(self, looker: Looker, name: str, policy: Policy) -> None:
        self.looker = looker
        self.directory = looker.directory
        self.name = name
        self.base = f"{looker.directory}/{name}"
        self.session = Session(looker, name, policy, watching=True)
        record = looker.facts(name).record
        if record is None or record.pane is None:
            raise RefusedError(f"{name} is no session; `dogwatch wait {name}` waits for a job")
        self.project = record.notify or notify.configured(places.project(os.getcwd()))
        self.control: Control | None = None

    def look(self) -> View:
        looked = self.session.look()
        record, seen = looked.facts.record, looked.seen
        about = notify.about(record) if record else About()
        ends = {}
        if record is not None:
            both = (("shim", looked.facts.shim, record.shim), ("work", looked.facts.work, record.work))
            ends = {key: (meant.pid, meant.start) for key, found, meant in both if isinstance(found, Alive)}
        if seen is not None and record is not None and record.adopted is None:
            self.control = self.session.panes(record).attach(seen.sighting.pane)
        known = self.session.panes(record).known.get(record.pane.id) if seen and record and record.pane else None
        return View(
            looked.verdict, about, ends, _files(seen), record, known.process if known else (0, 0),
            known.memory if known else None,
        )  # fmt: skip

    def clear_away(self) -> str:
        """End what is left, the capture, and exactly that session. Returns why not; empty when it is gone."""
        facts = self.looker.facts(self.name)
        if facts.record is None or facts.record.pane is None:
            return ""
        if not job.judge(facts).final:
            end(self.looker, self.name)
        return PaneHand(facts.record.pane.server).close(facts.record.pane)

    def close(self) -> None:
        self.session.close()


class Theirs:
    """An agent in a pane that somebody else opened: it is watched, and nothing is done to it."""

    def __init__(self, panes: Panes, seen: Seen, name: str, directory: str) -> None:
        self.panes = panes
        self.pane = seen.sighting.pane
        self.seat = PaneHand(panes.tmux.server).seat(self.pane.id)
        self.name = name
        self.directory = directory
        self.project = notify.configured(places.project(os.getcwd()))
        self.control: Control | None = None
        self._missed: float | None = None
        self._ended: float | None = None
        self._process, self._pidfd = (0, 0), -1
        self._last = self._view(seen)

    def look(self) -> View:
        looked = self.panes.look(self.pane.id)
        now = time.monotonic()
        if looked.trouble and looked.cause != codec.ABSENT:
            return self._last._replace(verdict=self._last.verdict._replace(state="unknown", reason=looked.trouble))
        seen = next((each for each in looked.seen if each.sighting.pane.pid == self.pane.pid), None)
        if seen is not None:
            self._missed, self._last = None, self._view(seen)
            if not self._last.verdict.final:
                self._ended = None
                return self._last
            if verdict := self._told(self._last.verdict):
                return self._last._replace(verdict=verdict, ends={})
            # A goodbye may still come: whoever leaves restores the screen, and then says it.
            self._ended = now if self._ended is None else self._ended
            sure = self._last.verdict.state == "stopped" or now >= self._ended + SECOND_LOOK
            return self._last._replace(verdict=self._last.verdict._replace(settled=sure), ends={})
        if verdict := self._told(self._last.verdict):
            return self._last._replace(verdict=verdict, ends={})
        self._missed = now if self._missed is None else self._missed
        gone = now >= self._missed + SECOND_LOOK
        verdict = self._last.verdict._replace(
            state="not_found" if gone else "unknown", final=gone, process="gone" if gone else "unknown",
            reason=f"its pane {self.pane.id} is gone; how the agent ended, nobody saw", look_at=now + SECOND_LOOK,
        )  # fmt: skip
        return self._last._replace(verdict=verdict, ends={})

    def clear_away(self) -> str:
        """Close exactly the session that was named."""
        return PaneHand(self.seat.server).close(self.seat)

    def close(self) -> None:
        self.panes.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)

    def _told(self, verdict: Verdict) -> Verdict | None:
        """How its process ended, if the kernel tells (since Linux 6.15 it does); a goodbye is better than a number."""
        pid, start = self._process
        if verdict.state == "stopped" or self._pidfd < 0 or not exits.has_ended(self._pidfd):
            return None
        found, _ = exits.status(self._pidfd, pid, start)
        if found is None:
            return None
        number = os.WTERMSIG(found) if os.WIFSIGNALED(found) else None
        code = None if number else os.WEXITSTATUS(found)
        state = "crashed" if number else "failed" if code else "stopped"
        return verdict._replace(
            state=state, final=True, settled=True, process="gone", exit_code=code, signal=number,
            reason=f"it ended: {exits.in_words(found)}",
        )  # fmt: skip

    def _hold(self, process: tuple[int, int]) -> None:
        """Only who holds a pidfd when a process ends can learn how it ended."""
        if process != self._process:
            if self._pidfd >= 0:
                os.close(self._pidfd)
            self._process, found = process, processes.watch_exit(process[0])
            self._pidfd = found if found is not None and proc.start_time(process[0]) == process[1] else -1

    def _view(self, seen: Seen) -> View:
        known = self.panes.known[self.pane.id]
        pid, start = known.process
        self._hold(known.process)
        about = About(f"{pid}-{start}", seen.sighting.agent, self.pane.id, self.pane.session)
        ends = {"agent": (pid, start)} if seen.verdict.process == "alive" else {}
        verdict = seen.verdict._replace(name=self.name)
        began = known.running.started if known.running else None
        cwd = known.running.cwd if known.running else self.pane.path
        return View(verdict, about, ends, _files(seen), None, known.process, known.memory, cwd, began)


def _files(seen: Seen | None) -> set[str]:
    """Transcript and state file, as far as the reports name them."""
    paths = {report.words["path"] for report in seen.sighting.reports if report.words.get("path")} if seen else set()
    return paths | {f"{path}-wal" for path in paths if path.endswith(".db")}
