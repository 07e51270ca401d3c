"""When each notification is due: quiet hours, reminders, digests, and which channel asked for what."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.breaker.rules import backoff
from midwatch.config.model import Channel, QuietHours
from midwatch.core.notification_kinds import CONTINUES, DRIFT, LEVELS, LIVE_TOLD, NEEDS_YOU, UNPLANNED, USUAL, WORDS
from midwatch.core.verdict import FINAL
from midwatch.notifications.model import Change, ChangeSubject, Notification, NotificationState, SentAt
from midwatch.notifications.rules import changes, schedule
from midwatch.notifications.rules.schedule import Delivery, HeldBack, Moment

NIGHT, NOON = QuietHours(22 * 60, 7 * 60), QuietHours(12 * 60, 13 * 60)
NOW = Moment(wall=5000.0, mono=100.0, boot="b", minute=3 * 60)
CHANNEL = Channel("command", ("say",), USUAL, "d.toml:1", remind_s=1800.0)
QUIET = CHANNEL._replace(quiet=NIGHT)


def notice(state: str = "waiting", **more: Any) -> Notification:
    final = "yes" if state in FINAL else ""
    fields = {"state": state, "final": final, "planned": ""}
    return Notification("id", "x", "r", fields, "c", "/p", 4000.0)._replace(**more)


def reminder(**more: Any) -> Notification:
    return notice(kind="reminder", sent=SentAt(NOW.mono, "b"))._replace(**more)


# Levels


def change(state: str, *, planned: bool = False) -> Change:
    return Change("x", ChangeSubject("r"), state, state in FINAL, "why", "", 1.0, "b", 1.0, "/p", planned=planned)


@pytest.mark.parametrize(
    ("level", "wanted"),
    [
        (NEEDS_YOU, {"waiting", "stuck", "limited", *FINAL} - {"completed", "stopped"}),
        ("ended", {"waiting", "stuck", "limited", *FINAL}),
        ("all", {"waiting", "stuck", "limited", "limited+", "working", *FINAL}),
    ],
)
def test_a_level_stands_for_what_it_says(level: str, wanted: set[str]) -> None:
    every = {state: change(state) for state in (*LIVE_TOLD, *FINAL, "working")}
    every["limited+"] = change("limited", planned=True)
    assert {state for state, each in every.items() if changes.is_wanted(LEVELS[level], each)} == wanted


def test_each_level_has_what_the_one_before_has_and_only_all_has_drifts() -> None:
    cases = [change(state, planned=planned) for state in (*LIVE_TOLD, *FINAL, "working") for planned in (False, True)]
    wanted = [{each for each in cases if changes.is_wanted(words, each)} for words in LEVELS.values()]
    assert wanted[0] < wanted[1] < wanted[2]
    assert [DRIFT in words for words in LEVELS.values()] == [False, False, True]
    assert all(set(words) <= set(WORDS) for words in LEVELS.values())


def test_who_asks_for_limits_gets_all_and_who_asks_for_unplanned_ones_only_those() -> None:
    assert changes.is_wanted(("limited",), change("limited", planned=True))
    assert changes.is_wanted((UNPLANNED,), change("limited"))
    assert not changes.is_wanted((UNPLANNED,), change("limited", planned=True))
    assert not changes.is_wanted(USUAL, change("working"))
    assert changes.is_wanted((CONTINUES,), change("working"))


# Quiet hours


@pytest.mark.parametrize(
    ("quiet", "minute", "is_so"),
    [
        (NIGHT, 21 * 60 + 59, False), (NIGHT, 22 * 60, True), (NIGHT, 0, True), (NIGHT, 6 * 60 + 59, True),
        (NIGHT, 7 * 60, False), (NOON, 12 * 60, True), (NOON, 13 * 60, False), (NOON, 11 * 60, False), (None, 0, False),
    ],
)  # fmt: skip
def test_quiet_hours_hold_from_their_first_minute_to_before_their_end(
    quiet: QuietHours | None, minute: int, *, is_so: bool
) -> None:
    assert schedule.is_quiet(quiet, minute) == is_so


@given(st.integers(0, 1439), st.integers(0, 1439).filter(bool))
def test_quiet_hours_are_as_long_as_they_say(start: int, length: int) -> None:
    quiet = QuietHours(start, (start + length) % 1440)
    assert sum(schedule.is_quiet(quiet, minute) for minute in range(1440)) == length


@pytest.mark.parametrize("state", [*LIVE_TOLD, *FINAL, CONTINUES, DRIFT])
def test_quiet_hours_keep_everything_unless_it_is_excepted(state: str) -> None:
    assert schedule.find_hold(notice(state), QUIET, NOW, 60.0) == HeldBack("quiet", 60.0)
    assert schedule.find_hold(notice(state), CHANNEL, NOW, 60.0) is None
    assert schedule.find_hold(notice(state), QUIET, NOW._replace(minute=12 * 60), 60.0) is None


@pytest.mark.parametrize("state", [*LIVE_TOLD, *FINAL, CONTINUES, DRIFT])
@pytest.mark.parametrize("planned", ["", "yes"])
def test_needs_you_as_an_exception_is_what_that_level_is(state: str, planned: str) -> None:
    kept = notice(state)
    kept = kept._replace(fields=kept.fields | {"planned": planned})
    passes = schedule.find_hold(kept, QUIET._replace(quiet_except=(NEEDS_YOU,)), NOW, 60.0) is None
    assert passes == changes.is_wanted(LEVELS[NEEDS_YOU], change(state, planned=bool(planned)))


def test_final_as_an_exception_is_every_end_and_no_drift() -> None:
    channel = QUIET._replace(quiet_except=("final",))
    every = (*LIVE_TOLD, *FINAL, DRIFT)
    assert {state for state in every if schedule.find_hold(notice(state), channel, NOW, 1.0) is None} == {*FINAL}


def test_a_digest_is_not_kept_again() -> None:
    assert schedule.find_hold(notice("digest", kind="digest"), QUIET, NOW, 60.0) is None


# Reminders


def test_a_reminder_is_due_half_an_hour_after_the_delivery_by_the_clock_that_nobody_sets() -> None:
    assert schedule.find_hold(reminder(), CHANNEL, NOW, 0.0) == HeldBack("reminder", 1800.0)
    jumped = NOW._replace(wall=NOW.wall + 86400, mono=NOW.mono + 1000)
    assert schedule.find_hold(reminder(), CHANNEL, jumped, 0.0) == HeldBack("reminder", 800.0)
    assert schedule.find_hold(reminder(), CHANNEL, NOW._replace(wall=0.0, mono=NOW.mono + 1800), 0.0) is None
    assert schedule.find_hold(reminder(), CHANNEL._replace(remind_s=60.0), NOW, 0.0) == HeldBack("reminder", 60.0)


def test_a_reminder_that_comes_due_in_quiet_hours_is_kept() -> None:
    assert schedule.find_hold(reminder(), QUIET, NOW._replace(mono=NOW.mono + 1800), 9.0) == HeldBack("quiet", 9.0)


def test_only_a_wait_is_followed_by_a_reminder_and_that_by_none() -> None:
    assert schedule.is_reminded(notice(), CHANNEL)
    assert not schedule.is_reminded(notice(), CHANNEL._replace(remind_s=0.0))
    assert not schedule.is_reminded(reminder(), CHANNEL)
    assert not any(schedule.is_reminded(notice(state), CHANNEL) for state in ("limited", "stuck", "failed", CONTINUES))


def test_a_reminder_is_dropped_after_a_restart_or_where_it_is_turned_off() -> None:
    assert schedule.is_reminder_needed(reminder(), CHANNEL, NOW)
    assert not schedule.is_reminder_needed(reminder(), CHANNEL, NOW._replace(boot="next"))
    assert not schedule.is_reminder_needed(reminder(), CHANNEL._replace(remind_s=0.0), NOW)


@pytest.mark.parametrize(
    ("cause", "state", "turn", "waits"),
    [
        ("permission", "waiting", "waiting", True), ("permission", "working", "working", False),
        ("permission", "idle", "idle", False), ("interrupted", "idle", "idle", True),
        ("interrupted", "working", "working", False), ("not-continued", "idle", "idle", True),
    ],
)  # fmt: skip
def test_a_look_bears_out_a_wait(cause: str, state: str, turn: str, *, waits: bool) -> None:
    assert schedule.is_still_waiting(cause, state, turn) == waits


def test_what_waits_no_more_is_outdated_and_so_is_a_continuation_after_the_next_change() -> None:
    told = NotificationState("waiting", open=True, number=1)
    assert not changes.is_outdated(notice(number=1), told)
    assert changes.is_outdated(notice(number=1), told._replace(open=False))
    assert changes.is_outdated(reminder(number=1), told._replace(open=False, number=2))
    assert not changes.is_outdated(notice(CONTINUES, number=2), told._replace(open=False, number=2))
    assert changes.is_outdated(notice(CONTINUES, number=2), told._replace(number=3))


# Digests


def many(count: int, **more: Any) -> list[Notification]:
    return [notice(id=f"n{each}", **more) for each in range(count)]


def test_five_go_by_themselves_and_six_as_one() -> None:
    assert schedule.plan_delivery(many(5), set(), (), 100.0) == Delivery(tuple(many(5)))
    assert schedule.plan_delivery(many(6), set(), (), 100.0) == Delivery(digests=(tuple(many(6)),))


def test_what_would_be_more_than_five_in_a_minute_waits_for_the_minute_to_pass() -> None:
    recent = (50.0, 60.0, 70.0, 80.0, 90.0)
    assert schedule.plan_delivery(many(3), set(), recent, 100.0) == Delivery(rest=10.0)
    assert schedule.plan_delivery(many(3), set(), recent, 110.0) == Delivery(digests=(tuple(many(3)),))
    assert schedule.plan_delivery(many(1), set(), recent, 110.0) == Delivery(tuple(many(1)))
    assert schedule.plan_delivery(many(5), set(), recent, 151.0) == Delivery(tuple(many(5)))


def test_a_person_who_asks_waits_for_nothing() -> None:
    recent = (50.0, 60.0, 70.0, 80.0, 90.0)
    assert schedule.plan_delivery(many(3), set(), recent, 100.0, asked=True) == Delivery(tuple(many(3)))


def test_what_quiet_hours_kept_is_one_digest_however_few_and_one_alone_is_none() -> None:
    found = schedule.plan_delivery(many(3), {"n0", "n2"}, (), 100.0)
    assert found == Delivery((many(3)[1],), ((many(3)[0], many(3)[2]),))
    assert schedule.plan_delivery(many(2), {"n0"}, (), 100.0).digests == ()


def test_a_digest_is_never_part_of_another() -> None:
    digests = many(8, kind="digest")
    found = schedule.plan_delivery(digests, {"n0", "n1"}, (), 100.0)
    assert (found.single, found.digests, found.rest) == (tuple(digests[:5]), (), 60.0)


COUNTS = st.integers(0, 80)


@given(COUNTS, st.sets(st.integers(0, 79)), st.lists(st.floats(0, 100), max_size=12))
def test_no_plan_loses_or_doubles_anything_or_exceeds_five_a_minute(
    count: int, kept: set[int], recent: list[float]
) -> None:
    due = many(count)
    found = schedule.plan_delivery(due, {f"n{each}" for each in kept}, tuple(recent), 100.0)
    sent = [*found.single, *(each for group in found.digests for each in group)]
    assert len({each.id for each in sent}) == len(sent)
    assert {each.id for each in sent} <= {each.id for each in due}
    messages = len(found.single) + len(found.digests)
    before = len([at for at in recent if 40.0 < at <= 100.0])
    assert messages + min(before, schedule.MOST) <= schedule.MOST
    assert (found.rest is None) == (len(sent) == len(due))
    assert found.rest is None or found.rest > 0
    assert all(2 <= len(group) <= schedule.LONGEST_DIGEST for group in found.digests)


# Who stays


@pytest.mark.parametrize(
    ("holds", "left", "stays"),
    [
        ([], 240.0, None),
        ([HeldBack("reminder", 30.0)], 240.0, None),
        ([HeldBack("retry", 30.0)], 240.0, HeldBack("retry", 30.0)),
        ([HeldBack("retry", 300.0)], 240.0, None),
        ([HeldBack("rate", 50.0), HeldBack("reminder", 20.0)], 240.0, HeldBack("rate", 20.0)),
        ([HeldBack("quiet", 30000.0)], -5.0, HeldBack("quiet", 30000.0)),
        ([HeldBack("quiet", 30000.0), HeldBack("reminder", 99.0)], 0.0, HeldBack("quiet", 99.0)),
    ],
)
def test_a_sender_stays_for_what_is_soon_and_for_the_end_of_quiet_hours(
    holds: list[HeldBack], left: float, stays: HeldBack | None
) -> None:
    assert schedule.find_stay(holds, left) == stays


def test_a_time_that_is_too_far_ahead_was_reckoned_by_another_clock() -> None:
    assert schedule.find_hold(notice(again=NOW.wall + 9), CHANNEL, NOW, 0.0) == HeldBack("retry", 9.0)
    assert schedule.find_hold(notice(again=NOW.wall + backoff.LONGEST + 1), CHANNEL, NOW, 0.0) is None
