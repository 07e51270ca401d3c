"""What the feed tells of two snapshots."""

from __future__ import annotations

import pytest

from midwatch.core.verdict import FINAL, Verdict
from midwatch.subjects import codec
from midwatch.subjects.model import KnownState, Subject, SubjectSnapshot
from midwatch.subjects.rules import ABSENT_FOR, GONE, FeedState, begin_feed, find_changes

NONE = FeedState({}, {})


def subject(key: str, state: str = "working", cause: str = "", *, settled: bool = True) -> Subject:
    parent, kind, name = key.rsplit("/", 2) if key.count("/") > 2 else ("", *key.rsplit("/", 1))
    verdict = Verdict(name, kind, state, state in FINAL, "why", "alive", "unknown", cause, settled=settled)  # type: ignore[arg-type]
    return Subject(key, kind, verdict, parent)


def snapshot(*subjects: Subject, unseen: tuple[str, ...] = ()) -> SubjectSnapshot:
    return SubjectSnapshot(subjects, (), unseen)


def test_a_new_subject_is_told_and_then_no_more() -> None:
    state, changes = find_changes(NONE, snapshot(subject("job/a")), 1.0)
    assert [(each.id, each.was, each.state) for each in changes] == [("job/a", "", "working")]
    assert find_changes(state, snapshot(subject("job/a")), 2.0)[1] == ()


def test_a_change_names_the_state_before() -> None:
    state, _ = find_changes(NONE, snapshot(subject("session/api")), 1.0)
    _, changes = find_changes(state, snapshot(subject("session/api", "waiting", "permission")), 2.0)
    assert [(each.was, each.state, each.cause) for each in changes] == [("working", "waiting", "permission")]


def test_what_a_turn_is_busy_with_is_no_change_but_what_it_waits_for_is() -> None:
    state, _ = find_changes(NONE, snapshot(subject("session/api", cause="tool")), 1.0)
    state, changes = find_changes(state, snapshot(subject("session/api", cause="model")), 2.0)
    assert changes == ()
    state, _ = find_changes(state, snapshot(subject("session/api", "waiting", "permission")), 3.0)
    assert find_changes(state, snapshot(subject("session/api", "waiting", "question")), 4.0)[1]


def test_the_same_end_of_another_run_is_a_change() -> None:
    before = FeedState({"job/a": KnownState("failed", final=True, cause="", run="r1")}, {})
    assert find_changes(before, snapshot(subject("job/a", "failed")), 1.0)[1]


def test_what_ended_before_the_feed_began_is_not_told() -> None:
    found = snapshot(subject("job/old", "completed"), subject("job/new"))
    _, changes = find_changes(begin_feed(found), found, 1.0)
    assert [each.id for each in changes] == ["job/new"]


def test_absence_is_told_only_when_it_lasts() -> None:
    state, _ = find_changes(NONE, snapshot(subject("session/api"), subject("session/api/shell/7-1")), 1.0)
    without = snapshot(subject("session/api"))
    state, changes = find_changes(state, without, 2.0)
    assert changes == ()
    state, changes = find_changes(state, without, 2.0 + ABSENT_FOR)
    assert [(each.id, each.parent, each.kind, each.state, each.reason) for each in changes] == [
        ("session/api/shell/7-1", "session/api", "shell", "", GONE)
    ]
    assert find_changes(state, without, 9.0)[1] == ()


def test_what_is_back_was_never_gone() -> None:
    both = snapshot(subject("pane/s/%1"))
    state, _ = find_changes(NONE, both, 1.0)
    state, _ = find_changes(state, snapshot(), 2.0)
    state, changes = find_changes(state, both, 2.9)
    assert changes == ()
    assert find_changes(state, snapshot(), 3.5)[1] == ()


def test_nothing_is_gone_where_nothing_could_be_observed() -> None:
    state, _ = find_changes(NONE, snapshot(subject("pane/s/%1")), 1.0)
    for now in (2.0, 20.0):
        state, changes = find_changes(state, snapshot(unseen=("pane/s/",)), now)
        assert changes == ()


def test_what_is_not_settled_is_told_when_it_is() -> None:
    state, _ = find_changes(NONE, snapshot(subject("session/api")), 1.0)
    state, changes = find_changes(state, snapshot(subject("session/api", "crashed", settled=False)), 2.0)
    assert changes == ()
    assert find_changes(state, snapshot(subject("session/api", "stopped")), 3.0)[1][0].was == "working"


def test_an_end_that_is_cleaned_up_is_no_change() -> None:
    state = FeedState({"job/a": KnownState("failed", final=True, cause="")}, {"job/a": 0.0})
    assert find_changes(state, snapshot(), 9.0)[1] == ()


def test_the_state_file_and_the_event_hold_all_of_it() -> None:
    state, changes = find_changes(NONE, snapshot(subject("job/a/attempt/2", "failed", "exit")), 1.0)
    assert codec.decode_state(codec.encode_state(state)) == state
    event = codec.encode_change(changes[0], 5.0)._replace(seq=7)
    assert (event.name, event.event) == ("a", "changed")
    assert codec.decode_change(event) == changes[0]._replace(seq=7, at=5.0)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema":2,"known":{}}', '{"schema":1,"known":{"a":1}}'])
def test_a_state_file_of_others_is_as_good_as_none(text: str) -> None:
    assert codec.decode_state(text) is None


def test_an_event_has_a_name_that_an_event_may_have() -> None:
    _, (change,) = find_changes(NONE, snapshot(subject("row/two words")), 1.0)
    event = codec.encode_change(change, 5.0)
    assert event.name == "subject"
    assert codec.decode_change(event).name == "two words"
