"""The watchdog of a controller: looks at the work and at the panes, and wakes the controller when it matters.

It never assigns, claims or closes anything. Whatever fails (a tracker, tmux, a message) is logged and tried again; only
a person, a closed epic in `auto` or a signal ends it.
"""

from __future__ import annotations

import os
import re
import sys
import time

from dogwatch import proc
from dogwatch.formats import ticks
from dogwatch.formats import tmux as codec
from dogwatch.judge import waking
from dogwatch.loops import send
from dogwatch.loops.panes import Looked, Panes
from dogwatch.model.errors import RefusedError
from dogwatch.model.sending import Outcome, Sent
from dogwatch.model.session import Pane
from dogwatch.model.tracking import CLOSED, IN_PROGRESS, Tracker, Work
from dogwatch.model.value import Value
from dogwatch.model.waking import Memory, Rules, State, Wake
from dogwatch.senses.alarm import Alarm
from dogwatch.senses.glimpses import glimpse
from dogwatch.store import watchdogs
from dogwatch.store.watchdogs import Standing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LOOK = 15.0
"""Seconds between looks at the panes; and between tries to deliver what is held back."""
AT_REST = {"idle": "is idle", "completed": "is idle", "crashed": "crashed", "failed": "failed", "stuck": "is stuck",
           "limited": "hit a limit", "waiting": "waits for a person"}  # fmt: skip
"""States of a worker that the controller should know of, in words."""


class Asked(Value):
    """What somebody wants to be watched."""

    session: str
    project: str
    title: str
    """A regular expression for the controller's title."""
    epic: str
    beads: tuple[str, ...]
    rules: Rules
    server: tuple[str, ...] = ()
    once: bool = False
    dry: bool = False
    template: str = ticks.TICK


class Seen(Value):
    """What one look at the panes found."""

    controller: Pane | None
    trouble: str
    """Why there is no controller to be told."""
    workers: tuple[str, ...]
    working: bool
    """The controller is at work."""


class Watchdog:
    def __init__(self, asked: Asked, tracker: Tracker, panes: Panes, log: Callable[[str], None]) -> None:
        self.asked, self.tracker, self.panes, self.log = asked, tracker, panes, log
        self.pattern = re.compile(asked.title, re.IGNORECASE)
        self.memory = Memory()
        self.controller = ""
        """The pane that was found."""
        self.work: Work | None = None
        self.standing = Standing(asked.session, "", asked.project, os.getpid(), proc.start_time(os.getpid()))
        self.base = ""
        self._said = ""
        self._tick = 0.0

    # One round

    def round(self, *, read: bool) -> Wake:
        """Look, decide, and tell the controller if that is to be done. ``read``: the tracker, too."""
        now = time.monotonic()
        if read:
            self._read()
        seen = self._look()
        if self.work is None:
            return Wake("", "nothing is known of the work yet")
        state = self._state(self.work, seen)
        self.memory = waking.seen(state, self.memory)
        if seen.working:
            self.memory = self.memory._replace(unread=False)
        wake = waking.wake(state, self.memory, self.asked.rules, now=now)
        if read:
            self._log_tick(state, wake)
        if wake.send and not self.asked.dry:
            self._deliver(seen, state, wake)
        return wake

    def _read(self) -> None:
        try:
            self.work = self.tracker.read()
        except RefusedError as error:
            self.log(f"tracker-failed {error}")  # what was known before holds; the next tick tries again

    def _look(self) -> Seen:
        looked = self.panes.look()
        if looked.trouble:
            return Seen(None, looked.trouble, (), working=False)
        own = os.environ.get("TMUX_PANE", "")
        inside = [pane for pane in looked.panes if codec.in_session(pane, self.asked.session) and pane.id != own]
        controller, trouble = self._controller(inside)
        states = self._states(looked)
        workers = [
            f"{pane.id} {AT_REST[states[pane.id]]}"
            for pane in inside
            if pane is not controller and states.get(pane.id) in AT_REST
        ]
        working = controller is not None and states.get(controller.id) == "working"
        return Seen(controller, trouble, tuple(workers), working=working)

    def _controller(self, inside: list[Pane]) -> tuple[Pane | None, str]:
        """The pane that was found before, as long as it is there; else the only one whose title fits."""
        kept = next((pane for pane in inside if pane.id == self.controller and not pane.dead), None)
        fits = [pane for pane in inside if self.pattern.search(pane.title) and not pane.dead]
        if kept is None and self.controller:
            self.log(f"controller-gone {self.controller}")
            self.controller = ""
        if kept is None and len(fits) == 1:
            kept, self.controller = fits[0], fits[0].id
            self.log(f"controller-found {kept.id} {ticks.plain(kept.title)}")
        if kept is not None:
            return kept, ""
        if not inside:
            return None, f"no session {self.asked.session}"
        return None, (
            f"multiple-controller-pane-matches {' '.join(pane.id for pane in fits)}" if fits else "no-controller-pane"
        )

    @staticmethod
    def _states(looked: Looked) -> dict[str, str]:
        return {seen.sighting.pane.id: seen.verdict.state for seen in looked.seen}

    def _state(self, work: Work, seen: Seen) -> State:
        epic = work.tasks.get(self.asked.epic)
        mine = set(self.asked.beads) or {task.id for task in work.children(self.asked.epic)}
        return State(
            closed=epic is not None and epic.status == CLOSED,
            ready=tuple([task.id for task in work.ready()]),
            in_progress=tuple([task.id for task in work.of(IN_PROGRESS) if task.id in mine]),
            blocked=tuple([task.id for task in work.blocked() if task.id in mine]),
            quality=(),
            workers=seen.workers,
        )

    # Telling

    def _deliver(self, seen: Seen, state: State, wake: Wake) -> None:
        if seen.controller is None:
            self._once(f"not-sent {seen.trouble}")
            return
        pane = seen.controller.id
        if why := self._is_somebodys(pane):
            self._once(f"not-sent {why}")
            return
        text = self._text(state, wake)
        sent = send.deliver(self.panes, pane, text)
        now = time.monotonic()
        if sent.submitted:
            self.memory = waking.delivered(state, self.memory, wake.send, now=now, proven=sent.delivered)
            self.log(f"prompt-sent {wake.send} to {pane}: {wake.why} ({sent.reason})")
            self._keep(sent)
        elif sent.typed:
            self.memory = self.memory._replace(unread=sent.left)
            self.log(f"prompt-not-consumed {pane}: {sent.reason}")
            self._keep(sent)
        else:
            self._once(f"not-sent {sent.reason}" if sent.outcome != Outcome.WORKING else "not-sent controller is busy")

    def _is_somebodys(self, pane: str) -> str:
        """Whether a person is in that pane: what is typed there is typed before their eyes, and into their words."""
        try:
            seen = glimpse(self.panes.tmux.server, pane)
        except RefusedError as error:
            return str(error)
        there = seen is not None and any(client.pane == pane and not client.control for client in seen.clients)
        return "a person is in the controller's pane" if there else ""

    def _text(self, state: State, wake: Wake) -> str:
        marker = f"watchdog:{self.asked.session}:{int(time.time())}:{os.getpid()}:{os.urandom(4).hex()}"
        template = ticks.OVER if wake.send == "closed" else self.asked.template
        beads = ",".join(self.asked.beads)
        return ticks.fill(template, {
            "marker": marker, "session": self.asked.session, "epic": self.asked.epic, "state": ticks.state(state),
            "quality": f"dogwatch quality ensure --beads {beads}",
            "ready": f"dogwatch ready --session {self.asked.session}",
            "handoff": "dogwatch handoff --task <id> --status '<short status>' --report <file>",
            "stop": f"dogwatch watchdog stop --session {self.asked.session}",
        })  # fmt: skip

    # Logging

    def _log_tick(self, state: State, wake: Wake) -> None:
        said = (
            f"tick epic={'CLOSED' if state.closed else 'OPEN'} ready={ticks.listed(state.ready)} "
            f"in_progress={ticks.listed(state.in_progress)} blocked={ticks.listed(state.blocked)} "
            f"quality_due={ticks.listed(state.quality)}"
        )
        self.log(f"{said}: {wake.why}")
        self.standing = self.standing._replace(tick=time.time(), said=said)
        self._write()

    def _keep(self, sent: Sent) -> None:
        self.standing = self.standing._replace(delivered=time.time(), outcome=f"{sent.outcome}: {sent.reason}")
        self._write()

    def _write(self) -> None:
        if self.base:
            watchdogs.write(self.base, self.standing._replace(controller=self.controller))

    def _once(self, what: str) -> None:
        """Log it, unless it was the last that was logged."""
        if what != self._said:
            self.log(what)
            self._said = what


def run(dog: Watchdog, alarm: Alarm) -> int:
    """Round after round, until something ends it. Returns the exit code."""
    due = 0.0
    while True:
        now = time.monotonic()
        read = now >= due
        wake = dog.round(read=read)
        if read:
            due = now + dog.asked.rules.interval
        if wake.end or dog.asked.once:
            dog.log(f"exit code=0 reason={wake.why if wake.end else 'once'}")
            return 0
        if alarm.sleep(min(due, time.monotonic() + LOOK)) or alarm.signals.asked:
            pass
        if alarm.signals.asked:
            dog.log(f"exit code={128 + alarm.signals.asked} reason=signal")
            return 128 + alarm.signals.asked


def log_to(path: str) -> Callable[[str], None]:
    """Lines for the pane and for a file."""

    def log(text: str) -> None:
        line = f"[controller-watchdog] {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {text}\n"
        sys.stderr.write(line)
        with open(path, "a", encoding="utf-8") as file:
            file.write(line)

    return log
