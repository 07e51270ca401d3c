"""What was told belongs to a conversation: a new one is told everything at the next tick, a resumed one nothing."""

from __future__ import annotations

import pytest

from midwatch.swarm.model import DeliveryResult, MessageRecipient, SessionSnapshot, WorkerState
from midwatch.swarm.rules.worker import GRACE
from midwatch.trackers.model import CLOSED, IN_PROGRESS, OPEN
from tests.unit.swarm.rounds import TAKEN, Rounds, World

FIRST = MessageRecipient("aaa", "100:1")


def sight(recipient: MessageRecipient, *workers: WorkerState, pane: str = "%1", state: str = "idle") -> SessionSnapshot:
    return SessionSnapshot(pane, "", state, workers, recipient=recipient)


def told(recipient: MessageRecipient = FIRST) -> tuple[World, Rounds]:
    world = World(bd_1=OPEN)
    world.sight = sight(recipient)
    rounds = Rounds(world)
    assert rounds.tick() == "tick"
    assert rounds.observe() == ""
    return world, rounds


@pytest.mark.parametrize(
    ("now", "pane"),
    [(MessageRecipient("bbb", "100:1"), "%1"), (MessageRecipient("bbb", "200:2"), "%1"),
     (MessageRecipient("bbb", "200:2"), "%9"), (MessageRecipient("", "200:2"), "%9")],
    ids=["cleared", "started anew in its pane", "in another pane", "in another pane, its id is not known"],
)  # fmt: skip
def test_a_new_conversation_gets_the_state_at_the_next_tick(now: MessageRecipient, pane: str) -> None:
    world, rounds = told()
    world.sight = sight(now, pane=pane)
    assert rounds.observe() == "", "between ticks only news is told"
    assert rounds.tick(later=60.0) == "tick"
    assert "- ready: bd-1" in world.texts[-1]
    assert f"conversation-new {pane}: it has been told nothing yet" in rounds.log
    assert rounds.tick(later=60.0) == "", "it knows by now"


@pytest.mark.parametrize(
    "now",
    [FIRST, MessageRecipient("aaa", "200:2"), MessageRecipient("", "100:1"), MessageRecipient()],
    ids=["the same", "resumed", "its id cannot be read", "nobody was seen"],
)
def test_the_same_conversation_is_not_told_again(now: MessageRecipient) -> None:
    world, rounds = told()
    world.sight = sight(now)
    assert rounds.tick(later=60.0) == ""
    world.sight = sight(FIRST)
    assert rounds.tick(later=60.0) == ""


def test_an_id_that_is_known_only_after_the_first_message_is_learned() -> None:
    """Codex names its conversation with its first turn."""
    world, rounds = told(MessageRecipient("", "100:1"))
    world.sight = sight(FIRST)
    assert rounds.observe() == ""
    world.sight = sight(MessageRecipient("bbb", "100:1"))
    assert rounds.tick(later=60.0) == "tick"


def test_news_between_ticks_tells_a_new_conversation_all_of_it() -> None:
    world, rounds = told()
    world.sight = sight(MessageRecipient("bbb", "100:1"), WorkerState("%2", "codex", "crashed"))
    assert rounds.observe() == "tick"
    assert "- ready: bd-1" in world.texts[-1]
    assert rounds.tick(later=60.0) == "", "it was told twice"


def test_a_new_conversation_waits_for_no_message_of_the_last_one() -> None:
    world = World(bd_1=OPEN)
    world.sight, world.answer = sight(FIRST), DeliveryResult(taken=True, proven=False, reason="nothing tells")
    rounds = Rounds(world)
    rounds.tick()
    world.sight = sight(MessageRecipient("bbb", "200:2"), pane="%9")
    assert rounds.tick(later=60.0) == "tick"


def test_what_is_held_for_a_new_conversation_comes_when_it_may() -> None:
    world, rounds = told()
    world.sight = sight(MessageRecipient("bbb", "100:1"), state="working")
    assert rounds.tick(later=60.0) == "tick"
    assert (len(world.texts), rounds.dog.held) == (1, "it is at work")
    world.sight = sight(MessageRecipient("bbb", "100:1"))
    rounds.observe()
    assert len(world.texts) == 2


def test_what_is_left_in_the_box_of_another_pane_is_not_told() -> None:
    world = World(bd_1=OPEN)
    world.sight, world.answer = (
        sight(FIRST),
        DeliveryResult(taken=False, proven=False, reason="Enter did nothing", left=True),
    )
    rounds = Rounds(world)
    rounds.tick()
    world.sight, world.answer, world.submitted = sight(MessageRecipient("bbb", "200:2"), pane="%9"), TAKEN, "sent"
    rounds.tick(later=60.0)
    assert not [line for line in rounds.log if line.startswith("prompt-left")]


def test_a_new_conversation_hears_of_workers_that_the_last_one_saw_come_to_rest() -> None:
    world = World(bd_1=IN_PROGRESS)
    rounds = Rounds(world)
    idle = WorkerState("%2", "codex", "idle")
    world.sight = sight(FIRST, idle)
    rounds.tick()
    world.sight = sight(FIRST, idle, state="working")  # its own turn begins after the worker came to rest
    rounds.observe()
    world.sight = sight(FIRST, idle)
    rounds.observe(later=GRACE)
    assert rounds.dog._decided()[0].workers == ()
    world.sight = sight(MessageRecipient("bbb", "100:1"), idle)
    rounds.tick()
    assert rounds.dog._decided()[0].workers == ("%2 (codex) is idle",)


def test_a_new_conversation_is_asked_to_verify_a_closed_epic() -> None:
    world = World(bd_epic=CLOSED)
    world.sight = sight(FIRST)
    rounds = Rounds(world)
    assert rounds.tick() == "closed"
    assert rounds.tick(later=60.0) == ""
    world.sight = sight(MessageRecipient("bbb", "100:1"))
    assert rounds.tick(later=60.0) == "closed"


def test_the_first_message_lists_all_workers() -> None:
    world = World(bd_1=OPEN)
    world.sight = sight(FIRST, *[WorkerState(f"%{number}", "codex", state) for number, state in
                                 enumerate(("working", "idle", "starting", "unknown", "waiting"), 2)])  # fmt: skip
    Rounds(world).tick()
    (line,) = [line for line in world.texts[0].splitlines() if line.startswith("- workers: ")]
    assert line.removeprefix("- workers: ").split(", ") == [
        "%2 (codex) is working", "%3 (codex) is idle", "%4 (codex) is starting", "%5 (codex) is in an unknown state",
        "%6 (codex) waits for a person",
    ]  # fmt: skip
