"""A world of the test's own for the rounds of a watchdog."""

from __future__ import annotations

from midwatch.core.errors import RefusedError
from midwatch.core.foreign_text import ForeignText
from midwatch.swarm.codec import tick_message
from midwatch.swarm.model import DeliveryResult, SessionSnapshot, WakeRules
from midwatch.swarm.watchdog import Watchdog, WatchdogRequest
from midwatch.trackers.model import EPIC, TrackerTask, Work

TAKEN = DeliveryResult(taken=True, proven=True, reason="its transcript tells of it")


class World:
    """A session, a tracker and a clock that do as they are told."""

    def __init__(self, **statuses: str) -> None:
        self.time = 0.0
        self.tasks = {name.replace("_", "-"): status for name, status in statuses.items()}
        self.failing: Exception | None = None
        self.sight = SessionSnapshot("%1", "", "idle", ())
        self.answer = TAKEN
        self.texts: list[str] = []
        self.shown: list[str] = []
        self.reads = 0
        self.letters: tuple[str, ...] = ()
        self.words = tick_message.TICK
        self.loops = True
        self.submitted = ""
        self.priorities: dict[str, int] = {}
        self.titles: dict[str, str] = {}
        self.damage = ""

    def now(self) -> float:
        return self.time

    def work(self) -> Work:
        self.reads += 1
        if self.failing:
            raise self.failing
        tasks = {name: TrackerTask(name, ForeignText(self.titles.get(name, f"Handle OPEN {name}")), status,
                            EPIC if name == "bd-epic" else "task", self.priorities.get(name, 2))
                 for name, status in self.tasks.items()}  # fmt: skip
        return Work(tasks, "the test", self.damage)

    def observe(self) -> SessionSnapshot:
        return self.sight

    def mail(self) -> tuple[str, ...]:
        return self.letters

    def ensure(self) -> None:
        pass

    def template(self) -> str:
        if not self.words:
            raise RefusedError("watchdog.md cannot be read")
        return self.words

    def has_loops(self) -> bool:
        return self.loops

    def flag(self) -> str:
        return ""

    def submit(self, pane: str) -> str:
        assert pane == self.sight.controller
        return self.submitted

    def show(self, text: str) -> None:
        self.shown.append(text)

    def deliver(self, pane: str, text: str) -> DeliveryResult:
        assert pane == self.sight.controller
        if self.sight.state == "working":
            return DeliveryResult(taken=False, proven=False, reason="it is at work")
        if self.answer.taken:
            self.texts.append(text)
        return self.answer


class Rounds:
    def __init__(self, world: World, **asked: object) -> None:
        self.world, self.log = world, []  # type: tuple[World, list[str]]
        given = {
            "session": "s",
            "project": "/p",
            "title": "controller",
            "epic": "bd-epic",
            "beads": (),
            "rules": WakeRules(),
        }
        self.dog = Watchdog(WatchdogRequest(**(given | asked)), world, self.log.append)  # type: ignore[arg-type]

    def tick(self, *, later: float = 0.0) -> str:
        self.world.time += later
        return self.dog.round(tick=True).send

    def observe(self, *, later: float = 9.0) -> str:
        self.world.time += later
        return self.dog.round(tick=False).send
