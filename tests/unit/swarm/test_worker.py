"""Which workers a controller hears of, and which not."""

from __future__ import annotations

import pytest

from midwatch.core.states import VerdictState
from midwatch.core.verdict import Verdict
from midwatch.swarm.model import SessionSnapshot, Workers, WorkerState
from midwatch.swarm.rules import worker as crews
from midwatch.swarm.rules.worker import GRACE, PING


def sight(*states: str, controller: str = "idle", seen: bool = True) -> SessionSnapshot:
    workers = [WorkerState(f"%{number + 2}", "claude", state) for number, state in enumerate(states)]
    return SessionSnapshot("%1", "", controller, tuple(workers), seen=seen)


def after(*looks: tuple[float, SessionSnapshot]) -> Workers:
    crew = Workers()
    for now, seen in looks:
        crew = crews.update_workers(seen, crew, now=now)
    return crew


@pytest.mark.parametrize(
    ("state", "words"),
    [("crashed", "crashed"), ("stopped", "has ended"), ("stuck", "is stuck"), ("limited", "hit a limit"),
     ("waiting", "waits for a person"), ("failed", "failed"), ("ended", "ended, how is not known")],
)  # fmt: skip
def test_who_cannot_tell_it_is_told_of_at_once(state: VerdictState, words: str) -> None:
    assert crews.format_idle(after((0.0, sight(state))), now=0.0) == (f"%2 (claude) {words}",)


@pytest.mark.parametrize("state", ["working", "starting", "unknown"])
def test_who_works_or_may_work_is_not_told_of(state: VerdictState) -> None:
    assert crews.format_idle(after((0.0, sight(state))), now=1e6) == ()


def test_who_is_idle_has_a_while_to_tell_it() -> None:
    crew = after((0.0, sight("working")), (100.0, sight("idle")), (110.0, sight("idle")))
    assert crews.format_idle(crew, now=100.0 + GRACE - 1) == ()
    assert crews.format_idle(crew, now=100.0 + GRACE) == ("%2 (claude) is idle",)


def test_an_idle_one_is_not_told_of_when_the_controller_has_begun_a_turn_since_or_just_before() -> None:
    """A worker pings from within its turn, so the controller begins a moment before it ends."""
    for turned, told in ((100.0 - PING - 1, True), (100.0 - PING, False), (150.0, False)):
        looks = [(0.0, sight("working")), (turned, sight("working", controller="working")),
                 (turned + 1, sight("working")), (100.0, sight("idle"))]  # fmt: skip
        crew = after(*sorted(looks, key=lambda look: look[0]))
        assert bool(crews.format_idle(crew, now=100.0 + GRACE)) is told, turned


def test_a_turn_counts_from_its_beginning() -> None:
    busy = [(float(now), sight("working", controller="working")) for now in range(0, 300, 10)]
    crew = after(*busy, (300.0, sight("idle", controller="working")))
    assert crew.turn == 0.0
    assert crews.format_idle(crew, now=300.0 + GRACE) == ("%2 (claude) is idle",)


def test_who_comes_to_rest_again_is_told_of_again() -> None:
    crew = after((0.0, sight("idle")), (500.0, sight("working")), (600.0, sight("idle")))
    assert crews.format_idle(crew, now=600.0 + GRACE - 1) == ()
    assert crews.format_idle(crew, now=600.0 + GRACE) == ("%2 (claude) is idle",)


def test_a_pane_that_is_gone_is_told_until_somebody_has_heard_it() -> None:
    crew = after((0.0, sight("working", "working")), (10.0, sight("working")), (20.0, sight("working")))
    assert crews.format_idle(crew, now=20.0) == ("%3 (claude) is gone",)
    assert crews.format_idle(crew._replace(gone=()), now=20.0) == ()


def test_where_the_server_does_not_tell_nobody_is_gone() -> None:
    before = after((0.0, sight("working")))
    assert crews.update_workers(sight(seen=False), before, now=10.0) == before


def test_one_that_becomes_the_controller_is_not_gone() -> None:
    crew = after((0.0, sight("working")), (10.0, SessionSnapshot("%2", "", "idle", ())))
    assert crews.format_idle(crew, now=10.0) == ()


def test_who_is_free_and_who_works() -> None:
    assert crews.has_free_worker(Workers())
    assert not crews.has_free_worker(after((0.0, sight("working", "limited", "waiting", "stuck"))))
    assert crews.has_free_worker(after((0.0, sight("working", "crashed"))))
    assert crews.has_busy_worker(after((0.0, sight("idle", "working"))))
    assert not crews.has_busy_worker(after((0.0, sight("idle", "limited"))))


@pytest.mark.parametrize(
    ("state", "final", "settled", "word"),
    [("working", False, True, "working"), ("unknown", False, True, "unknown"), ("crashed", True, True, "crashed"),
     ("stopped", True, True, "stopped"), ("unknown", True, True, "ended"), ("unknown", True, False, "unknown")],
)  # fmt: skip
def test_an_agent_that_is_gone_is_called_ended_where_nothing_tells_how(
    state: VerdictState, final: bool, settled: bool, word: str
) -> None:
    verdict = Verdict("%2", "session", state, final, "", "gone", "unknown", settled=settled)
    assert crews.worker_state(verdict) == word


def test_one_that_ended_can_be_given_something_once_it_is_back() -> None:
    assert crews.has_free_worker(after((0.0, sight("ended"))))


def test_who_is_lost_is_told_in_the_words_in_which_it_is_at_rest() -> None:
    crew = after((0.0, sight("working", "working")), (1.0, sight("crashed")))
    assert crews.format_lost(crew) == crews.format_idle(crew, now=1.0) == ("%2 (claude) crashed", "%3 (claude) is gone")
    for state in ("stopped", "idle", "limited", "waiting", "stuck", "working"):
        assert crews.format_lost(after((0.0, sight(state)))) == ()


def test_everybody_is_there_in_words() -> None:
    crew = after((0.0, sight("working", "idle", "starting", "unknown", "ended")))
    assert crews.format_all(crew) == (
        "%2 (claude) is working", "%3 (claude) is idle", "%4 (claude) is starting",
        "%5 (claude) is in an unknown state", "%6 (claude) ended, how is not known",
    )  # fmt: skip
