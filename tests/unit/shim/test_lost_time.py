"""A shim or a keeper that stands still (SIGSTOP, a sleeping machine) notices it, wherever in its round that happens."""

from types import SimpleNamespace
from typing import Any

import pytest

from midwatch.jobs import adopted_supervisor
from midwatch.shim import shim

PULSE = 0.3
ROUNDS = 5
STOOD = 10.0


class Clock:
    """Time passes only in ``poll``, and once, before one chosen reading of it, ten seconds at once."""

    def __init__(self, stands_before: int) -> None:
        self.now = 1000.0
        self.readings = 0
        self.stands_before = stands_before

    def monotonic(self) -> float:
        if self.readings == self.stands_before:
            self.now += STOOD
        self.readings += 1
        return self.now

    def poll(self, milliseconds: float) -> list[Any]:
        self.now += milliseconds / 1000
        return []

    def register(self, *_: object) -> None:
        pass


class Rounds:
    """What both have: a beat that is due, and what was found to be lost."""

    beat_at: float

    def set_up(self, clock: Clock) -> None:
        self.began = self.beat_at = clock.now
        self.timeout_at = self.ask_at = float("inf")
        self.rounds = 0
        self.lost: list[float] = []
        self.notes: Any = SimpleNamespace(spool=lambda *_, **__: None)

    def shift(self, gap: float) -> None:
        self.lost.append(gap)

    def beat_if_due(self, now: float) -> None:
        self.rounds += 1
        if now >= self.beat_at:
            self.beat_at = now + PULSE


class KeeperRounds(Rounds, adopted_supervisor.AdoptedSupervisor):
    def __init__(self, clock: Clock) -> None:
        self.set_up(clock)
        self.pidfd, self.over, self.suspended_since = -1, False, None
        self.witness: Any = SimpleNamespace(again_at=float("inf"))

    def attend(self, now: float) -> None:
        self.beat_if_due(now)
        self.over = self.rounds == ROUNDS

    def go_round(self) -> None:
        self.serve(-1, None)


class ShimRounds(Rounds, shim.Shim):
    def __init__(self, clock: Clock) -> None:
        self.set_up(clock)
        self.stopping = self.status = self.suspended_at = None
        self.retry_at, self.pause_until, self.poll = float("inf"), float("inf"), clock  # type: ignore[assignment]
        self.question: Any = SimpleNamespace(due=float("inf"))
        self.moves: Any = SimpleNamespace(helper=0)

    def on_time(self, now: float) -> None:
        self.beat_if_due(now)

    def go_round(self) -> None:
        self.serve(lambda: self.rounds == ROUNDS)


@pytest.mark.parametrize("stands_before", range(8))
@pytest.mark.parametrize("kind", [KeeperRounds, ShimRounds])
def test_time_is_found_to_be_lost_wherever_in_its_round_it_was(
    kind: type[KeeperRounds | ShimRounds], stands_before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(stands_before)
    for module in (adopted_supervisor, shim):
        monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(adopted_supervisor, "select", SimpleNamespace(poll=lambda: clock, POLLIN=1))
    rounds = kind(clock)
    rounds.go_round()
    assert clock.readings > stands_before, "the round reads the clock less often than this test thinks"
    assert sum(rounds.lost) == pytest.approx(STOOD, abs=2 * PULSE)
