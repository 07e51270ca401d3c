"""What is held back is said, with when it will be sent; what must not wait does not."""

from __future__ import annotations

import time

import pytest

from midwatch.swarm.model import DeliveryResult, SessionSnapshot, WakeRules, WorkerState
from midwatch.trackers.model import CLOSED, IN_PROGRESS, OPEN
from tests.unit.swarm.rounds import Rounds, World


def after_news(count: int, *, repeats: int = 0) -> tuple[World, Rounds]:
    """So many messages with something new, and so many repeats of the last one, all within a quarter of an hour."""
    world = World(bd_1=OPEN)
    rounds = Rounds(world, rules=WakeRules(interval=60.0))
    assert rounds.tick() == "tick"
    for number in range(1, count):
        world.tasks[f"bd-x{number}"] = OPEN
        assert rounds.tick(later=1.0) == "tick"
    for number in range(repeats):
        assert rounds.tick(later=60.0 * 2**number) == "tick"
    assert len(world.texts) == count + repeats
    return world, rounds


def test_repeats_leave_the_limit_to_what_is_new() -> None:
    world, rounds = after_news(4, repeats=4)
    world.tasks["bd-new"] = OPEN
    assert rounds.tick(later=1.0) == "tick"
    assert "bd-new" in world.texts[-1]


def test_what_the_limit_holds_back_is_told_with_its_time_and_then_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    world, rounds = after_news(8)
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.0 + world.time)
    world.tasks["bd-new"] = OPEN
    assert rounds.tick(later=1.0) == ""
    dog = rounds.dog
    assert (dog.held, dog.message) == ("8 messages within an hour are enough", "ready bd-new")
    assert dog.until == 1_800_003_600.0
    held = [line for line in rounds.log if line.startswith("held-back")]
    assert held == [f"held-back until 2027-01-15T09:00:00Z: {dog.held}; held back: ready bd-new"]
    rounds.observe()
    assert sum(line.startswith("held-back") for line in rounds.log) == 1, "the same is logged again and again"
    world.tasks["bd-more"] = OPEN
    rounds.tick(later=1.0)
    assert (dog.message, rounds.log[-1].startswith("held-back until")) == ("ready bd-more, ready bd-new", True)
    assert rounds.tick(later=3600.0 - world.time - 1.0) == ""
    assert rounds.observe(later=1.0) == "tick", "it did not come at the time that was told"
    told = [dog.held, dog.message, dog.until]
    assert told == ["", "", None]


def test_what_an_unread_message_holds_back_is_told_with_its_time() -> None:
    world = World(bd_1=OPEN)
    world.answer = DeliveryResult(taken=True, proven=False, reason="nothing tells")
    rounds = Rounds(world)
    rounds.tick()
    world.tasks["bd-2"] = OPEN
    rounds.tick(later=420.0)
    assert (rounds.dog.held, rounds.dog.message) == ("the last message is unread", "ready bd-2")
    assert rounds.dog.until is not None
    assert any(line.startswith("held-back until ") for line in rounds.log)
    world.tasks["bd-2"] = CLOSED
    for _ in range(3):
        rounds.tick(later=60.0)
    assert rounds.dog.message == "what it was told before"
    assert sum(line.startswith("held-back") for line in rounds.log) == 2


@pytest.mark.parametrize("what", ["crashed", "failed", "ended", "gone", "urgent", "urgent and blocked"])
def test_crashes_and_tasks_of_the_highest_priority_do_not_wait(what: str) -> None:
    world, rounds = after_news(8)
    worker = WorkerState("%2", "codex", "working")
    world.sight = SessionSnapshot("%1", "", "idle", (worker,))
    rounds.observe()
    if what.startswith("urgent"):
        world.priorities["bd-new"] = 0
        world.tasks["bd-new"] = OPEN if what == "urgent" else "blocked"
    else:
        world.sight = SessionSnapshot("%1", "", "idle", () if what == "gone" else (worker._replace(state=what),))
    assert rounds.tick(later=1.0) == "tick"


@pytest.mark.parametrize("what", ["waiting", "stopped", "limited", "stuck", "priority 1"])
def test_what_else_is_new_waits_for_the_limit(what: str) -> None:
    world, rounds = after_news(8)
    world.priorities["bd-new"] = 1
    if what == "priority 1":
        world.tasks["bd-new"] = OPEN
    else:
        world.sight = SessionSnapshot("%1", "", "idle", (WorkerState("%2", "codex", what),))
    assert rounds.tick(later=1.0) == ""
    assert rounds.dog.held == "8 messages within an hour are enough"


def test_a_controller_at_work_is_no_limit_and_has_no_time() -> None:
    world = World(bd_1=OPEN)
    world.sight = SessionSnapshot("%1", "", "working", ())
    rounds = Rounds(world)
    rounds.tick()
    assert (rounds.dog.held, rounds.dog.message, rounds.dog.until) == ("it is at work", "first tick", None)


def test_companions_of_unfinished_tasks_are_not_ready() -> None:
    world = World(bd_1=IN_PROGRESS, bd_q1=OPEN, bd_2=CLOSED, bd_q2=OPEN, bd_q3=OPEN)
    world.titles = {"bd-q1": "Quality loops for bd-1", "bd-q2": "Quality loops for bd-2",
                    "bd-q3": "Quality loops for bd-gone"}  # fmt: skip
    Rounds(world).tick()
    assert "- ready: bd-q2, bd-q3" in world.texts[0].splitlines()


def test_beads_that_nobody_knows_are_said_once() -> None:
    rounds = Rounds(World(bd_1=OPEN), epic="", beads=("bd-1", "bd-7", "bd-8"))
    rounds.tick()
    rounds.tick()
    assert [line for line in rounds.log if "no-such" in line] == ["no-such-bead bd-7, bd-8 in the test"]


def test_a_damaged_tracker_is_said_once_and_told() -> None:
    world = World(bd_1=OPEN)
    world.damage = "issues.jsonl: line 3 cannot be read"
    rounds = Rounds(world)
    rounds.tick()
    rounds.tick()
    assert [line for line in rounds.log if "damaged" in line] == [f"tracker-damaged {world.damage}"]
    assert world.damage in world.texts[0]
