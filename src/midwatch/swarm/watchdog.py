"""The watchdog of a controller: looks at the work and at the panes, and wakes the controller when it matters.

It never assigns, claims or closes anything. Whatever fails (a tracker, tmux, a message) is logged and tried again; only
a person, a closed epic in `auto` or a signal ends it. The tracker is read at ticks, and once more right before a
message: while the controller was busy, it may have done what we were about to tell it.
"""

from __future__ import annotations

import os
import shlex
import time
import traceback

from midwatch.core.errors import FormatError, RefusedError
from midwatch.core.prompt_text import LONGEST_LINE, format_id, make_prompt_safe
from midwatch.core.value import Value
from midwatch.registry.model import iso
from midwatch.swarm.codec import tick_message
from midwatch.swarm.model import (
    DeliveryResult,
    SessionSnapshot,
    WakeDecision,
    WakeMemory,
    WakeRules,
    Workers,
    WorkState,
)
from midwatch.swarm.rules import quality
from midwatch.swarm.rules import wake as swarm_wake
from midwatch.swarm.rules import worker as crews
from midwatch.trackers.model import CLOSED, IN_PROGRESS, TrackerError, Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class WatchdogEnvironment(Protocol):
        """What the watchdog sees and touches."""

        def now(self) -> float: ...
        def work(self) -> Work: ...
        def observe(self) -> SessionSnapshot: ...
        def mail(self) -> tuple[str, ...]: ...
        def ensure(self) -> None: ...
        def template(self) -> str: ...
        def flag(self) -> str: ...
        def has_loops(self) -> bool: ...
        def deliver(self, pane: str, text: str) -> DeliveryResult: ...
        def submit(self, pane: str) -> str: ...
        def show(self, text: str) -> None: ...


LONGEST_PATH = 4096
FRESH = 5.0
"""Seconds for which what a tracker said may be told without asking it again."""


class WatchdogRequest(Value):
    """What somebody wants to be watched."""

    session: str
    project: str
    title: str
    """A regular expression for the controller's title."""
    epic: str
    beads: tuple[str, ...]
    rules: WakeRules
    server: tuple[str, ...] = ()
    once: bool = False
    dry: bool = False


class _UnsentMessage(Value):
    """A message that may still stand in the box of a pane."""

    state: WorkState
    kind: str
    pane: str


class Watchdog:
    def __init__(self, asked: WatchdogRequest, world: WatchdogEnvironment, log: Callable[[str], None]) -> None:
        self.asked, self.world, self.log = asked, world, log
        self.memory = WakeMemory()
        self.crew = Workers()
        self.sight = SessionSnapshot("", "not looked yet", "", (), seen=False)
        self.ticked = ""
        """What the last tick came to, in one line."""
        self.outcome = ""
        """What became of the last message."""
        self.held = ""
        """Why a message that is due has not been sent."""
        self.message = ""
        """What that message tells."""
        self.until: float | None = None
        """When it is sent at the latest, on the wall clock, where that is known."""
        self._until: float | None = None
        self.delivered = 0.0
        """When the last one was, on the wall clock."""
        self._work: Work | None = None
        self._read_at = 0.0
        self._trouble = ""
        self._left: _UnsentMessage | None = None
        self._said: dict[str, str] = {}

    def round(self, *, tick: bool) -> WakeDecision:
        """Look, decide, and tell the controller if that is to be done; at a tick with what the tracker says."""
        try:
            return self._round(tick=tick)
        except Exception:  # noqa: BLE001  # it is to be left alone for days: whatever this is, the next round may do
            self.log(f"round-failed {' | '.join(traceback.format_exc().splitlines()[-3:])}")
            return WakeDecision("", "this round failed")

    def _round(self, *, tick: bool) -> WakeDecision:
        if tick:
            self._read()
            self.world.ensure()
        self._look()
        self._recognise(tick=tick)
        state, wake = self._decided()
        if wake.send and not tick and self.world.now() - self._read_at > FRESH:
            self._read()
            state, wake = self._decided()
        if tick:
            self._tell_of_tick(state, wake)
        self.held = self._deliver(state, wake) if wake.send else wake.held
        self._note_held(wake)
        return wake

    # Seeing

    def _read(self) -> None:
        self._read_at = self.world.now()
        try:
            self._work, self._trouble = self.world.work(), ""
        except TrackerError as error:  # what was known before holds; the next tick tries again
            self._trouble = str(error)
            self.log(f"tracker-failed {make_prompt_safe(self._trouble, LONGEST_LINE)}")
            return
        self._trouble = self._work.trouble
        if self._trouble:
            self._once(f"tracker-damaged {make_prompt_safe(self._trouble, LONGEST_LINE)}")
        for kind, ids in (("epic", (self.asked.epic,)), ("bead", self.asked.beads)):
            if missing := self._work.missing(ids):
                self._once(
                    f"no-such-{kind} {tick_message.format_ids(missing)} in {make_prompt_safe(self._work.source)}"
                )

    def _look(self) -> None:
        self.sight = self.world.observe()
        self.crew = crews.update_workers(self.sight, self.crew, now=self.world.now())
        if self._left is not None and self.sight.controller not in ("", self._left.pane):
            self._left = None  # another pane leads by now, and that box is not its own
        if self._left is not None:
            self._see_to(self._left)
        if self.crew.busy and self.memory.unread:
            self.memory = self.memory._replace(unread=False)  # it has begun a turn since

    def _recognise(self, *, tick: bool) -> None:
        """What was told belongs to a conversation; at a tick a new one begins with nothing told."""
        recipient = self.sight.recipient
        if tick and swarm_wake.is_new_conversation(self.memory.to, recipient):
            self.log(f"conversation-new {self.sight.controller}: it has been told nothing yet")
            self.memory, self.crew = WakeMemory(), self.crew._replace(turn=None)
        self.memory = swarm_wake.update_recipient(self.memory, recipient)

    def _see_to(self, left: _UnsentMessage) -> None:
        """A message of ours was left in the box: it is sent as soon as that may be, or known to be lost."""
        became = "sent" if self.crew.busy else self.world.submit(self.sight.controller) if self.sight.controller else ""
        if became:
            self._left = None
            self.log(f"prompt-left {self.sight.controller}: it is {became} now")
            self.memory = self.memory._replace(unread=False)
        if became == "sent":
            self._remember(left.state, left.kind, proven=False)

    def _decided(self) -> tuple[WorkState, WakeDecision]:
        now = self.world.now()
        state = self._state(self._work or Work({}, "nothing"), now)
        self.memory = swarm_wake.forget_finished(state, self.memory)
        if self._work is None and not (state.workers or state.mail):
            return state, WakeDecision("", "nothing is known of the work yet")
        return state, swarm_wake.decide_wake(state, self.memory, self.asked.rules, now=now)

    def _state(self, work: Work, now: float) -> WorkState:
        epic = work.tasks.get(self.asked.epic)
        mine = set(self.asked.beads) or {task.id for task in work.children(self.asked.epic)} or set(work.tasks)
        looped = self.asked.beads if self.world.has_loops() else ()
        return WorkState(
            closed=epic is not None and epic.status == CLOSED,
            ready=tuple([task.id for task in quality.find_ready(work)]),
            in_progress=tuple([task.id for task in work.with_status(IN_PROGRESS) if task.id in mine]),
            blocked=tuple([task.id for task in work.blocked() if task.id in mine]),
            quality=tuple([due.bead for due in quality.find_due(work, looped)]),
            workers=crews.format_idle(self.crew, now=now),
            mail=self.world.mail(), free=crews.has_free_worker(self.crew), working=crews.has_busy_worker(self.crew),
            turn=self.crew.turn, trouble=self._trouble, crew=crews.format_all(self.crew),
            crashed=crews.format_lost(self.crew),
            urgent=tuple([task.id for task in work.urgent()]),
        )  # fmt: skip

    # Telling

    def _deliver(self, state: WorkState, wake: WakeDecision) -> str:
        """Tell it; why not, where that cannot be."""
        if not self.sight.controller:
            self._once(f"not-sent {self.sight.trouble}")
            return self.sight.trouble
        text = self._text(state, wake)
        if self.asked.dry:
            self.log(f"dry-run {wake.send} for {self.sight.controller}: {wake.why}")
            self.world.show(text)
            self._remember(state, wake.send, proven=True)
            return ""
        told = self.world.deliver(self.sight.controller, text)
        if told.taken:
            self._remember(state, wake.send, proven=told.proven)
            self.crew, self.delivered = self.crew._replace(gone=()), time.time()
            self.outcome = f"{'delivered' if told.proven else 'sent, perhaps'}: {told.reason}"
            self.log(f"prompt-sent {wake.send} to {self.sight.controller}: {wake.why} ({told.reason})")
            self._said.pop("not-sent", None)
            self._left = None
            return ""
        if told.left:
            self.memory = self.memory._replace(unread=True, at=self.memory.at or self.world.now())
            self.outcome = f"undelivered: {told.reason}"
            self._left = _UnsentMessage(state, wake.send, self.sight.controller)
            self.log(f"prompt-not-consumed {self.sight.controller}: {told.reason}")
        else:
            self._once(f"not-sent to {self.sight.controller}: {told.reason}; held back: {wake.why}")
        return told.reason

    def _remember(self, state: WorkState, kind: str, *, proven: bool) -> None:
        now, to = self.world.now(), self.sight.recipient
        self.memory = swarm_wake.remember_delivery(state, self.memory, kind, now=now, proven=proven, to=to)

    def _note_held(self, wake: WakeDecision) -> None:
        """What is held back and until when, for `status` and, once, for the log."""
        before = self._until, self.message
        self.message = (wake.message or wake.why) if self.held else ""
        self._until = wake.until if self.held else None
        if self._until is None:
            self.until = None
        elif (self._until, self.message) != before:
            self.until = time.time() + self._until - self.world.now()
            self.log(f"held-back until {iso(self.until)}: {wake.why}")

    def _text(self, state: WorkState, wake: WakeDecision) -> str:
        session, project = (
            make_prompt_safe(self.asked.session),
            f" {make_prompt_safe(self.world.flag(), LONGEST_PATH)}".rstrip(),
        )
        named = f"--session {shlex.quote(session)}"
        beads = f" --beads {','.join([format_id(bead) for bead in self.asked.beads])}" if self.asked.beads else ""
        template = tick_message.OVER
        if wake.send == "tick":
            try:
                template = tick_message.check_template(self.world.template())
            except (FormatError, RefusedError) as error:
                self._once(f"prompt-template {error}; ours is used")
                template = tick_message.TICK
        return tick_message.fill_template(template, {
            "marker": f"{tick_message.mark_prefix(self.asked.session)}"
            f"{int(time.time())}:{os.getpid()}:{os.urandom(4).hex()}",
            "session": session, "epic": format_id(self.asked.epic), "state": tick_message.format_state(state),
            "quality": f"midwatch quality ensure{beads}{project}", "ready": f"midwatch ready {named}",
            "send": "midwatch send <pane> --task <id> '<what to do>'", "inbox": "midwatch mail inbox --to controller",
            "handoff": "midwatch handoff --task <id> --status '<short status>' --report <file>",
            "stop": f"midwatch watchdog stop {named}",
        })  # fmt: skip

    # Logging

    def _tell_of_tick(self, state: WorkState, wake: WakeDecision) -> None:
        missing = self._work is not None and self._work.missing((self.asked.epic,))
        epic = "CLOSED" if state.closed else "MISSING" if missing else "OPEN"
        self.ticked = (
            f"tick epic={epic} ready={tick_message.format_ids(state.ready)} "
            f"in_progress={tick_message.format_ids(state.in_progress)} "
            f"blocked={tick_message.format_ids(state.blocked)} "
            f"quality_due={tick_message.format_ids(state.quality)}"
        )
        self.log(f"{self.ticked}: {wake.why}")

    def _once(self, what: str) -> None:
        """Log it, unless the last of its kind was the same."""
        kind = what.partition(" ")[0]
        if self._said.get(kind) != what:
            self.log(what)
            self._said[kind] = what
