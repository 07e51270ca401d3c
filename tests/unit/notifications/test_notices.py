"""Which change of a verdict is worth a notice, and that it is told once."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.core.exit_codes import NEXT
from midwatch.core.notification_kinds import LIVE_TOLD, USUAL, WORDS
from midwatch.core.process_state import Exited, ProcessState
from midwatch.core.verdict import FINAL, LIVE, Verdict
from midwatch.notifications.model import Change, ChangeSubject, Notification, NotificationState
from midwatch.notifications.rules import changes as change_rules
from midwatch.notifications.rules import schedule


def verdict(state: str, *, final: bool | None = None) -> Verdict:
    final = state in FINAL if final is None else final
    return Verdict("x", "job", state, final, "so it is", "alive", "unknown")  # type: ignore[arg-type]  # any word


def change(state: str, at: float, *, final: bool = False, boot: str = "b", since: float | None = None) -> Change:
    return Change(
        "x", ChangeSubject("r"), state, final or state in FINAL, "why", NEXT[state], at, boot, at, "/p", since
    )


def told(*changes: Change) -> list[str]:
    """The states that are told of a row of reports, in the order in which they are heard."""
    return [state for state in told_with_continuations(*changes) if state != "working"]


def told_with_continuations(*changes: Change) -> list[str]:
    memory, found = NotificationState(), []
    for each in changes:
        memory, tells = change_rules.record_change(memory, each)
        found += [each.state] if tells else []
    return found


# What a watcher reports


@pytest.mark.parametrize("state", [*FINAL, *LIVE_TOLD])
def test_a_state_that_somebody_should_know_is_reported_when_it_begins(state: str) -> None:
    assert change_rules.is_relevant_change(verdict("working"), verdict(state))
    assert change_rules.is_relevant_change(None, verdict(state)) == (state != "not_found")
    assert not change_rules.is_relevant_change(verdict(state), verdict(state))


@pytest.mark.parametrize("state", [state for state in LIVE if state not in LIVE_TOLD])
def test_other_live_states_are_reported_only_when_they_end_one_that_was_told(state: str) -> None:
    assert not change_rules.is_relevant_change(None, verdict(state))
    assert not change_rules.is_relevant_change(verdict("starting"), verdict(state))
    assert change_rules.is_relevant_change(verdict("waiting"), verdict(state))


def test_stuck_and_stopped_for_it_are_two_things() -> None:
    assert change_rules.is_relevant_change(verdict("stuck"), verdict("stuck", final=True))
    assert told(change("stuck", 1), change("stuck", 2, final=True)) == ["stuck", "stuck"]


def test_a_name_that_never_was_is_nobodys_business() -> None:
    assert not change_rules.is_relevant_change(None, verdict("not_found"))
    assert not change_rules.is_relevant_change(verdict("not_found"), verdict("not_found"))


def test_an_end_that_nobody_understands_is_told_but_not_a_look_that_says_nothing() -> None:
    assert change_rules.is_relevant_change(verdict("working"), verdict("unknown", final=True))
    assert not change_rules.is_relevant_change(verdict("working"), verdict("unknown"))


# What is told


def test_ten_watchers_tell_of_one_change() -> None:
    assert told(*(change("waiting", at) for at in range(10))) == ["waiting"]


def test_what_was_over_and_is_so_again_is_told_again() -> None:
    assert told(change("waiting", 1), change("working", 2), change("waiting", 3)) == ["waiting", "waiting"]


def test_another_thing_to_tell_is_told_though_nobody_saw_the_first_end() -> None:
    assert told(change("waiting", 1), change("limited", 2), change("waiting", 3)) == ["waiting", "limited", "waiting"]


def test_a_report_that_comes_late_is_no_news() -> None:
    """The second watcher saw the same wait and is heard of after its end; and saw its end after the next began."""
    assert told(change("waiting", 1), change("working", 5), change("waiting", 4)) == ["waiting"]
    assert told(change("waiting", 1), change("waiting", 7), change("working", 6)) == ["waiting"]
    assert told(change("working", 5), change("waiting", 4)) == []


def test_work_that_moved_unseen_and_stands_still_again_is_stuck_anew() -> None:
    assert told(change("stuck", 100, since=50), change("stuck", 200, since=50)) == ["stuck"]
    assert told(change("stuck", 100, since=50), change("stuck", 300, since=120)) == ["stuck", "stuck"]


@pytest.mark.parametrize("later", [*LIVE_TOLD, *FINAL, "working"])
def test_after_its_end_nothing_more_is_told_of_a_run(later: str) -> None:
    assert told(change("failed", 5), change(later, 9)) == ["failed"]
    assert told(change("failed", 5), change(later, 1, boot="another")) == ["failed"]


def test_an_end_is_told_however_old_the_look_and_after_another_boot() -> None:
    assert told(change("waiting", 5), change("crashed", 1, boot="another")) == ["waiting", "crashed"]
    assert told(change("waiting", 5), change("failed", 2)) == ["waiting", "failed"]


# That work continues


@pytest.mark.parametrize("state", ["waiting", "limited"])
def test_that_work_continues_is_told_once(state: str) -> None:
    watchers = [change("working", 2), change("working", 2.5), change("working", 3)]
    assert told_with_continuations(change(state, 1), *watchers) == [state, "working"]


@pytest.mark.parametrize("state", ["stuck", "completed", "abandoned"])
def test_after_anything_else_that_work_goes_on_is_no_news(state: str) -> None:
    before = change(state, 1)._replace(goes_on=True)
    assert told_with_continuations(before, change("working", 2)) == [state]


@pytest.mark.parametrize("state", ["idle", "starting", "unknown"])
def test_what_is_over_but_does_not_work_does_not_continue(state: str) -> None:
    assert told_with_continuations(change("waiting", 1), change(state, 2), change("working", 3)) == ["waiting"]


def test_a_limit_that_nothing_ends_any_more_is_told_anew() -> None:
    planned = change("limited", 1)._replace(planned=True)
    assert told(planned, planned._replace(at=2.0), change("limited", 3), change("limited", 4)) == ["limited", "limited"]
    assert told(change("limited", 1), planned._replace(at=2.0), change("limited", 3)) == ["limited"]


# What a watcher's last word leaves open


def last_word(state: str, at: float) -> Change:
    return change(state, at)._replace(goes_on=True)


@pytest.mark.parametrize("process", ["alive", "suspended", "unsupervised", "starting"])
def test_the_end_of_a_turn_is_not_the_end_of_the_session(process: ProcessState) -> None:
    assert change_rules.is_work_present(verdict("completed")._replace(process=process))
    assert not change_rules.is_work_present(verdict("waiting")._replace(process=process))


def test_a_monitor_that_gives_up_ends_nothing_whatever_is_known_of_the_processes() -> None:
    assert change_rules.is_work_present(verdict("abandoned")._replace(process="unknown"))


@pytest.mark.parametrize("process", ["gone", Exited(0), Exited(), "unknown"])
def test_what_is_no_longer_there_does_not_go_on(process: ProcessState) -> None:
    assert not change_rules.is_work_present(verdict("completed")._replace(process=process))


@pytest.mark.parametrize("word", ["completed", "abandoned", "incomplete"])
def test_after_a_watchers_last_word_the_rest_is_still_told(word: str) -> None:
    assert told(last_word(word, 1), change("waiting", 2), change("crashed", 3)) == [word, "waiting", "crashed"]
    assert told(last_word(word, 1), change("working", 2), last_word(word, 3)) == [word, word]


def test_a_watchers_last_word_is_told_once_however_many_say_it() -> None:
    assert told(last_word("completed", 1), last_word("completed", 2), last_word("completed", 3)) == ["completed"]


def test_ending_on_purpose_what_was_told_as_done_or_given_up_is_no_news() -> None:
    assert told(last_word("completed", 1), change("stopped", 2), change("failed", 3)) == ["completed"]
    assert told(last_word("abandoned", 1), change("stopped", 2)) == ["abandoned"]
    assert told(last_word("completed", 1), change("completed", 2)) == ["completed"]
    assert told(change("waiting", 1), change("stopped", 2)) == ["waiting", "stopped"]
    assert told(last_word("completed", 1), change("working", 2), change("stopped", 3)) == ["completed", "stopped"]


@given(st.lists(st.sampled_from(["working", "waiting", "limited", "stuck", "failed"]), max_size=12), st.integers(1, 4))
def test_however_many_watch_work_continues_no_more_often_than_it_paused(story: list[str], watchers: int) -> None:
    changes = [change(state, float(at)) for at, state in enumerate(story)]
    many = [each._replace(at=each.at + nth / 10) for each in changes for nth in range(watchers)]
    found = told_with_continuations(*many)
    assert found == told_with_continuations(*changes)
    assert found.count("working") <= found.count("waiting") + found.count("limited")


REPORTS = st.lists(st.sampled_from(["working", "waiting", "limited", "stuck", "failed"]), min_size=1, max_size=12)


@given(REPORTS, st.integers(1, 4))
def test_any_number_of_watchers_tell_no_more_than_one_would(story: list[str], watchers: int) -> None:
    """Each sees the same story, a little later than the one before; they are heard of in the order of their looks."""
    changes = [change(state, float(at)) for at, state in enumerate(story)]
    told_by_one = told(*changes)
    many = [each._replace(at=each.at + nth / 10) for each in changes for nth in range(watchers)]
    assert told(*many) == told_by_one
    assert len(told_by_one) <= len(list(itertools.groupby(story)))


# To whom


def test_a_channel_is_told_of_what_it_asked_for() -> None:
    assert all(change_rules.is_wanted(USUAL, change(state, 1)) for state in (*LIVE_TOLD, *FINAL))
    assert change_rules.is_wanted(("failed",), change("failed", 1))
    assert not change_rules.is_wanted(("failed",), change("completed", 1))
    assert not change_rules.is_wanted(("waiting", "limited"), change("stopped", 1))
    assert change_rules.is_wanted(("final",), change("stuck", 1, final=True))
    assert not change_rules.is_wanted(("final",), change("stuck", 1))
    assert {*USUAL, *FINAL} <= {*WORDS}


# And again


def notice(**more: object) -> Notification:
    return Notification("id", "x", "r", {}, "c", "/p", 1000.0)._replace(**more)  # type: ignore[arg-type]


def test_it_is_tried_again_after_half_a_minute_and_then_less_and_less_often() -> None:
    waits = [(schedule.next_try_at(notice(tries=tries), 1000.0) or 0.0) - 1000.0 for tries in range(1, 7)]
    for wait, full in zip(waits, (30, 60, 120, 240, 300, 300), strict=True):
        assert full * 0.8 <= wait <= full


def test_it_is_given_up_after_many_tries_or_a_day() -> None:
    assert schedule.next_try_at(notice(tries=schedule.MOST_TRIES - 1), 1000.0) is not None
    assert schedule.next_try_at(notice(tries=schedule.MOST_TRIES), 1000.0) is None
    assert schedule.next_try_at(notice(tries=1), 1000.0 + 86400) is not None
    assert schedule.next_try_at(notice(tries=1), 1001.0 + 86400) is None


def test_a_clock_that_was_set_back_does_not_keep_a_notice_for_ever() -> None:
    assert not schedule.is_due(notice(again=1100.0), 1000.0)
    assert schedule.is_due(notice(again=1100.0), 1100.0)
    assert schedule.is_due(notice(again=90000.0), 1000.0)


def test_every_watch_that_gives_up_is_told_and_those_that_watched_together_are_one() -> None:
    def gives_up(at: float, since: float) -> Change:
        return change("abandoned", at, since=since)._replace(goes_on=True)

    together = gives_up(10.0, since=1.0), gives_up(10.1, since=5.0)
    assert told(*together) == ["abandoned"]
    assert told(*together, gives_up(20.0, since=11.0)) == ["abandoned", "abandoned"]
    assert told(*together, gives_up(20.0, since=11.0), gives_up(20.1, since=12.0)) == ["abandoned", "abandoned"]
