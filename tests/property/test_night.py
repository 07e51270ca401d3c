"""A night of it on a mock clock: eight hours, six workers, a controller that sleeps when nobody speaks to it.

Tasks open and close, workers crash and hit limits, a person sits in the controller's pane now and then. Seed 5 sends
its prompt at every tick; we may send a fifth of that, and yet every ready task is announced within one tick.
"""

from __future__ import annotations

import random

import pytest

from dogwatch.judge import waking
from dogwatch.model.waking import Memory, Rules, State

HOURS, STEP, TICK = 8, 15, 420
END = HOURS * 3600
WORKERS = 6
REACTS = 60
"""Seconds after which a controller that was spoken to has done what there is to do."""
GRACE = 120
"""Seconds that a worker must have been idle to be told of: its own ping comes first."""


class Night:
    """The world; times in seconds since the evening."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.now = 0
        self.tasks = {f"bd-{number}": "open" for number in range(8)}
        self.later = sorted([self.chance.randrange(END) for _ in range(4)] * 4)
        """When somebody opens further tasks."""
        self.workers: dict[int, tuple[str, str, int]] = dict.fromkeys(range(WORKERS), ("idle", "", 0))
        """What each is at, with what, and until or since when."""
        self.spoken: int | None = None
        """When somebody last spoke to the controller."""
        self.person = sorted(self.chance.randrange(END) for _ in range(6))
        self.waited: dict[str, int] = {}
        """Since when a task has been ready and the controller could have been told of it, but was not."""
        self.worst = 0

    def step(self) -> None:
        self.now += STEP
        while self.later and self.later[0] <= self.now:
            self.later.pop(0)
            self.tasks[f"bd-{len(self.tasks)}"] = "open"
        for number, (state, task, until) in self.workers.items():
            if state == "working" and until <= self.now:
                self._ends(number, task)
            elif state == "limited" and until <= self.now:
                self.workers[number] = ("idle", "", self.now)
        if self.spoken is not None and self.now - self.spoken >= REACTS:
            self.spoken = None
            self._assign()

    def _ends(self, number: int, task: str) -> None:
        luck = self.chance.random()
        if luck < 0.92:
            self.tasks[task] = "closed"
            self.workers[number] = ("idle", "", self.now)
            if luck < 0.87:  # its ping reaches the controller, which is awake then
                self.spoken = self.now
        else:
            self.tasks[task] = "open"
            self.workers[number] = ("crashed", "", self.now) if luck < 0.97 else ("limited", "", self.now + 3600)

    def _assign(self) -> None:
        """What a controller does: it brings crashed workers back, and gives each idle one a ready task."""
        for number, (state, _, _) in self.workers.items():
            if state == "crashed":
                self.workers[number] = ("idle", "", self.now)
        for task in self.ready():
            free = next((number for number, (state, _, _) in self.workers.items() if state == "idle"), None)
            if free is None:
                return
            self.tasks[task] = "in_progress"
            self.workers[free] = ("working", task, self.now + self.chance.randrange(3600, 4 * 3600))

    def ready(self) -> list[str]:
        return [task for task, status in self.tasks.items() if status == "open"]

    def has_person(self) -> bool:
        return any(at <= self.now < at + 900 for at in self.person)

    def state(self) -> State:
        at_rest = [
            f"w{number} {state}"
            for number, (state, _, since) in self.workers.items()
            if state in ("crashed", "limited") or (state == "idle" and self.ready() and self.now - since >= GRACE)
        ]
        return State(
            closed=False, ready=tuple(self.ready()), workers=tuple(at_rest),
            in_progress=tuple([task for task, status in self.tasks.items() if status == "in_progress"]),
            free=any(state in ("idle", "crashed") for state, _, _ in self.workers.values()),
        )  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_a_fifth_of_the_messages_and_every_ready_task_within_one_tick(seed: int) -> None:
    night, memory, rules = Night(seed), Memory(), Rules(interval=TICK)
    ours = seeds = 0
    announced: set[str] = set()
    since: dict[str, int] = {}
    while night.now < END:
        night.step()
        told = night.has_person()
        for task in night.ready():
            since.setdefault(task, night.now)
            if told:
                since[task] = night.now  # nobody may disturb a person; the clock begins when he has left
        since = {task: at for task, at in since.items() if task in night.ready()}
        if night.now % TICK:
            continue
        seeds += 1
        state = night.state()
        memory = waking.seen(state, memory)
        wake = waking.wake(state, memory, rules, now=float(night.now))
        if wake.send and not told:
            memory = waking.delivered(state, memory, wake.send, now=float(night.now), proven=True)
            ours += 1
            announced |= set(state.ready)
            night.spoken = night.now
        if not told:
            late = [task for task in state.ready if task not in announced and night.now - since[task] >= TICK]
            assert late == [], "a ready task that nobody was told of within one tick"
        announced &= set(night.ready()) | announced
    assert seeds >= 65
    assert ours <= seeds / 5, f"{ours} of {seeds}"
    assert ours > 0
