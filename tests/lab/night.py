"""A night of a swarm on a mock clock: eight hours, six workers, a controller that sleeps when nobody speaks to it.

Tasks open and close, workers crash and hit limits, the tracker fails now and then, a person sits in the controller's
pane, dialogs open. The watchdog and the gate before each key are the real ones.
"""

from __future__ import annotations

import random

from midwatch.core.foreign_text import ForeignText
from midwatch.core.states import VerdictState
from midwatch.core.verdict import Evidence, Verdict
from midwatch.sessions.prompting.model import EMPTY, InputBox
from midwatch.sessions.prompting.rules import recovery
from midwatch.sessions.prompting.rules.recovery import READY, RecoveryCase
from midwatch.swarm.codec import tick_message
from midwatch.swarm.model import DeliveryResult, SessionSnapshot, WorkerState
from midwatch.tmux.codec.guarded_input import AttachedClient, PaneSnapshot
from midwatch.trackers.model import CLOSED, IN_PROGRESS, OPEN, TrackerError, TrackerTask, Work

HOURS, STEP, TICK = 8, 9, 420
END = HOURS * 3600
WORKERS = 6
TURN = 60
"""Seconds in which the controller does what there is to do, once it is spoken to."""
PERSON, DIALOG = 900, 300
PANE = "%1"


class Night:
    """The world; times in seconds since the evening."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.time = 0
        self.tasks = {f"bd-{number}": OPEN for number in range(8)}
        self.later = sorted([self.chance.randrange(END) for _ in range(4)] * 4)
        """When somebody opens further tasks."""
        self.workers: dict[int, tuple[str, str, int]] = dict.fromkeys(range(WORKERS), ("idle", "", 0))
        """What each is at, with what, and until or since when."""
        self.turn: int | None = None
        """When the controller's turn ends; None while it sleeps."""
        self.persons = sorted([self.chance.randrange(END) for _ in range(6)])
        self.dialogs = sorted([self.chance.randrange(END) for _ in range(3)])
        self.messages: list[tuple[int, str]] = []
        self.wrong: list[str] = []

    # What happens

    def step(self) -> None:
        self.time += STEP
        while self.later and self.later[0] <= self.time:
            self.later.pop(0)
            self.tasks[f"bd-{len(self.tasks)}"] = OPEN
        for number, (state, task, until) in self.workers.items():
            if state == "working" and until <= self.time:
                self._ends(number, task)
            elif state == "limited" and until <= self.time:
                self.workers[number] = ("idle", "", self.time)
        if self.turn is not None and self.time >= self.turn:
            self.turn = None
            self._assign()

    def _ends(self, number: int, task: str) -> None:
        luck = self.chance.random()
        if luck < 0.92:
            self.tasks[task] = CLOSED
            self.workers[number] = ("idle", "", self.time)
            if luck < 0.87 and not self.is_held():  # its ping reaches the controller
                self.turn = self.time + TURN
        else:
            self.tasks[task] = OPEN
            self.workers[number] = ("crashed", "", self.time) if luck < 0.97 else ("limited", "", self.time + 3600)

    def _assign(self) -> None:
        """What a controller does: it brings crashed workers back, and gives each idle one a ready task."""
        for number, (state, _, _) in self.workers.items():
            if state == "crashed":
                self.workers[number] = ("idle", "", self.time)
        for task in self.ready():
            free = next((number for number, (state, _, _) in self.workers.items() if state == "idle"), None)
            if free is None:
                return
            self.tasks[task] = IN_PROGRESS
            self.workers[free] = ("working", task, self.time + self.chance.randrange(3600, 4 * 3600))

    def ready(self) -> list[str]:
        return [task for task, status in self.tasks.items() if status == OPEN]

    def has_person(self) -> bool:
        return any(at <= self.time < at + PERSON for at in self.persons)

    def has_dialog(self) -> bool:
        return any(at <= self.time < at + DIALOG for at in self.dialogs)

    def is_held(self) -> bool:
        """Whether nobody may be spoken to there."""
        return self.has_person() or self.has_dialog() or self.turn is not None

    # What the watchdog sees and touches

    def now(self) -> float:
        return float(self.time)

    def work(self) -> Work:
        if self.chance.random() < 0.03:
            raise TrackerError("it hangs")
        tasks = {name: TrackerTask(name, ForeignText(f"Handle {name}"), status) for name, status in self.tasks.items()}
        return Work(tasks, "a night")

    def observe(self) -> SessionSnapshot:
        workers = [WorkerState(f"%{number + 2}", "claude", state) for number, (state, _, _) in self.workers.items()]
        return SessionSnapshot(PANE, "", self.state(), tuple(workers))

    def state(self) -> VerdictState:
        return "waiting" if self.has_dialog() else "working" if self.turn is not None else "idle"

    def mail(self) -> tuple[str, ...]:
        return ()

    def ensure(self) -> None:
        pass

    def submit(self, pane: str) -> str:
        raise AssertionError(pane)

    def show(self, text: str) -> None:
        raise AssertionError(text)

    def has_loops(self) -> bool:
        return True

    def flag(self) -> str:
        return ""

    def template(self) -> str:
        return tick_message.TICK

    def deliver(self, pane: str, text: str) -> DeliveryResult:
        client = AttachedClient(PANE, self.time - 60, control=False, readonly=False)  # whose hands rest
        seen = PaneSnapshot("", False, False, False, False, (client,) if self.has_person() else (), ())
        verdict = Verdict("", "session", self.state(), False, "", "alive", "unknown", turn=self.state(),
                          evidence=(Evidence("screen", "idle"),))  # fmt: skip
        gate = recovery.next_step(RecoveryCase(pane, seen, float(self.time), verdict, front=True, box=InputBox(EMPTY)))
        if gate.what != READY:
            return DeliveryResult(taken=False, proven=False, reason=gate.why)
        self.messages.append((self.time, text))
        if self.is_held():
            self.wrong.append(f"a message at {self.time} s while the controller is {self.state()}")
        self.turn = self.time + TURN
        return DeliveryResult(taken=True, proven=True, reason="its transcript tells of it")
