"""When a controller is woken, and above all when it is not."""

from __future__ import annotations

import pytest

from midwatch.swarm.model import AUTO, WakeDecision, WakeMemory, WakeRules, WorkState
from midwatch.swarm.rules import wake

RULES = WakeRules(interval=420.0)
OPEN = WorkState(closed=False, ready=("bd-1",), in_progress=("bd-2",))
TOLD = WakeMemory(told=OPEN, at=1000.0, sent=(1000.0,))


def sends(state: WorkState, memory: WakeMemory = TOLD, *, now: float = 1001.0, rules: WakeRules = RULES) -> str:
    return wake.decide_wake(state, memory, rules, now=now).send


def test_the_first_tick_is_told() -> None:
    assert wake.decide_wake(OPEN, WakeMemory(), RULES, now=5.0) == WakeDecision("tick", "first tick")


def test_where_there_is_no_work_at_all_nobody_is_woken() -> None:
    assert wake.decide_wake(WorkState(closed=False), WakeMemory(), RULES, now=5.0) == WakeDecision("", "nothing new")
    assert sends(WorkState(closed=False, workers=("%3 crashed",)), WakeMemory()) == "tick"


def test_nothing_new_is_not_told() -> None:
    assert wake.decide_wake(OPEN, TOLD, RULES, now=1001.0) == WakeDecision("", "nothing new")


@pytest.mark.parametrize(
    "change",
    [{"ready": ("bd-1", "bd-3")}, {"blocked": ("bd-2",)}, {"quality": ("bd-9",)}, {"workers": ("%3 (claude) is idle",)},
     {"mail": ("m1",)}],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_what_it_does_not_know_wakes_it_at_once(change: dict[str, tuple[str, ...]]) -> None:
    assert sends(OPEN._replace(**change)) == "tick"  # type: ignore[arg-type]


def test_what_it_has_done_itself_is_no_news() -> None:
    assert sends(OPEN._replace(ready=(), in_progress=("bd-1", "bd-2"))) == ""
    assert sends(OPEN._replace(in_progress=())) == ""


def test_the_same_is_repeated_after_one_two_four_intervals_and_then_hourly() -> None:
    gaps: list[float] = []
    memory, now = TOLD, 1000.0
    while len(gaps) < 7:
        now += 1.0
        if wake.decide_wake(OPEN, memory, RULES, now=now).send:
            gaps.append(now - (memory.at or 0.0))
            memory = wake.remember_delivery(OPEN, memory, "tick", now=now, proven=True)
    assert gaps == [420.0, 840.0, 1680.0, 3360.0, 3600.0, 3600.0, 3600.0]


def test_news_begins_the_count_anew() -> None:
    memory = TOLD._replace(repeats=3)
    changed = OPEN._replace(ready=("bd-1", "bd-3"))
    assert wake.remember_delivery(changed, memory, "tick", now=2000.0, proven=True).repeats == 0


def test_patience_is_counted_from_delivery() -> None:
    assert sends(OPEN, WakeMemory(told=None, at=None), now=1e6) == "tick"
    assert sends(OPEN, TOLD._replace(at=1400.0), now=1500.0) == ""


def test_nothing_is_sent_while_the_last_one_is_unread() -> None:
    found = wake.decide_wake(OPEN._replace(ready=("bd-1", "bd-3")), TOLD._replace(unread=True), RULES, now=1001.0)
    assert (found.send, "ready bd-3" in found.why) == ("", True)


def test_what_nobody_has_proven_within_the_longest_rest_mutes_nobody() -> None:
    """An agent that writes nothing down and was quick: nobody saw its turn, and nobody ever will."""
    unread, changed = TOLD._replace(unread=True), OPEN._replace(ready=("bd-1", "bd-3"))
    assert sends(changed, unread, now=1000.0 + 3599.0) == ""
    assert sends(changed, unread, now=1000.0 + 3600.0) == "tick"


def test_while_everybody_works_it_is_left_asleep_for_two_hours() -> None:
    busy = OPEN._replace(free=False, working=True)
    assert sends(busy, now=1000.0 + 7199.0) == ""
    assert sends(busy, now=1000.0 + 7200.0) == "tick"
    assert sends(busy._replace(turn=3000.0), now=1000.0 + 7200.0) == "", "it was awake meanwhile"
    assert sends(busy._replace(turn=3000.0), now=3000.0 + 7200.0) == "tick"
    assert sends(busy._replace(mail=("m1",)), TOLD._replace(told=busy._replace(mail=("m1",))), now=1420.0) == "tick"


def test_where_nobody_works_what_is_in_progress_is_told_again() -> None:
    """Its worker has come to rest and said nothing."""
    lost = WorkState(closed=False, in_progress=("bd-2",), free=True, working=False)
    assert sends(lost, TOLD._replace(told=lost), now=1420.0) == "tick"


def test_there_is_a_ceiling_per_hour() -> None:
    busy = TOLD._replace(sent=tuple(1000.0 + number for number in range(8)))
    assert sends(OPEN._replace(ready=("bd-1", "bd-3")), busy, now=2000.0) == ""
    assert sends(OPEN._replace(ready=("bd-1", "bd-3")), busy, now=1000.0 + 3600.0) == "tick"


def test_repeats_do_not_count_towards_the_ceiling_nor_do_notices_of_a_closed_epic() -> None:
    again = wake.remember_delivery(OPEN, TOLD, "tick", now=1420.0, proven=True)
    assert (again.sent, again.repeats) == ((1000.0,), 1)
    assert wake.remember_delivery(WorkState(closed=True), TOLD, "closed", now=1420.0, proven=True).sent == (1000.0,)
    news = OPEN._replace(ready=("bd-1", "bd-3"))
    assert wake.remember_delivery(news, TOLD, "tick", now=1420.0, proven=True).sent == (1000.0, 1420.0)


def test_a_repeat_does_not_wait_for_the_ceiling() -> None:
    assert sends(OPEN, TOLD._replace(sent=tuple(990.0 + number for number in range(9))), now=1420.0) == "tick"


@pytest.mark.parametrize("extra", [0, 3])
def test_it_is_known_when_what_is_held_back_will_be_sent(extra: int) -> None:
    """Also where more were sent than the ceiling allows, because they did not wait for it."""
    sent = tuple(1000.0 + number for number in range(RULES.ceiling + extra))
    busy, news = TOLD._replace(sent=sent), OPEN._replace(ready=("bd-1", "bd-3"))
    found = wake.decide_wake(news, busy, RULES, now=2000.0)
    assert (found.held, found.message) == ("8 messages within an hour are enough", "ready bd-3")
    assert found.until == 1000.0 + extra + 3600.0
    assert sends(news, busy, now=found.until - 0.5) == ""
    assert sends(news, busy, now=found.until) == "tick"


@pytest.mark.parametrize(
    "state", [OPEN._replace(ready=("bd-1", "bd-3")), WorkState(closed=True)], ids=["news", "a closed epic"]
)
def test_it_is_known_when_the_unread_one_holds_nothing_back_any_more(state: WorkState) -> None:
    found = wake.decide_wake(state, TOLD._replace(unread=True), RULES, now=1001.0)
    assert (found.send, found.held, found.until) == ("", "the last message is unread", 1000.0 + 3600.0)


@pytest.mark.parametrize(
    ("change", "urgent"),
    [({"workers": ("%2 crashed",), "crashed": ("%2 crashed",)}, True), ({"workers": ("%2 is idle",)}, False),
     ({"ready": ("bd-1", "bd-3"), "urgent": ("bd-3",)}, True), ({"blocked": ("bd-3",), "urgent": ("bd-3",)}, True),
     ({"quality": ("bd-3",), "urgent": ("bd-3",)}, True), ({"urgent": ("bd-1", "bd-2")}, False),
     ({"ready": ("bd-1", "bd-3"), "urgent": ("bd-1",)}, False)],
)  # fmt: skip
def test_crashes_and_tasks_of_the_highest_priority_do_not_wait(
    change: dict[str, tuple[str, ...]], urgent: bool
) -> None:
    busy = TOLD._replace(sent=tuple(1000.0 + number for number in range(8)))
    state = OPEN._replace(**change)  # type: ignore[arg-type]
    assert (sends(state, busy, now=1100.0) == "tick") is urgent


def test_what_becomes_ready_a_second_time_is_news_a_second_time() -> None:
    memory = wake.forget_finished(OPEN._replace(ready=()), TOLD)
    assert sends(OPEN, memory) == "tick"


def test_a_closed_epic_ends_it_or_is_told_ten_times() -> None:
    closed = WorkState(closed=True)
    assert wake.decide_wake(closed, TOLD, RULES._replace(exit_mode=AUTO), now=1001.0).end
    memory, now, told = TOLD, 1001.0, 0
    for _ in range(20):
        found = wake.decide_wake(closed, memory, RULES, now=now)
        assert not found.end
        if found.send:
            assert found.send == "closed"
            told += 1
            memory = wake.remember_delivery(closed, memory, "closed", now=now, proven=True)
        now += 420.0
    assert told == 10


def test_between_two_ticks_a_closed_epic_is_not_told_again() -> None:
    closed = WorkState(closed=True)
    memory = wake.remember_delivery(closed, TOLD, "closed", now=1001.0, proven=True)
    assert wake.decide_wake(closed, memory, RULES, now=1010.0) == WakeDecision("", "the epic is closed; told already")
    assert wake.decide_wake(closed, memory, RULES, now=1001.0 + 420.0).send == "closed"
    unread = memory._replace(unread=True)
    assert wake.decide_wake(closed, unread, RULES, now=1001.0 + 420.0).send == ""
