"""What can be begun, what something stands in the way of, and what belongs to an epic."""

from __future__ import annotations

from midwatch.core.foreign_text import NOTHING
from midwatch.trackers.model import BLOCKED, CLOSED, DEFERRED, EPIC, IN_PROGRESS, OPEN, TrackerTask, Work


def work(*tasks: TrackerTask) -> Work:
    return Work({task.id: task for task in tasks}, "a test")


def ids(tasks: tuple[TrackerTask, ...]) -> list[str]:
    return [task.id for task in tasks]


def test_what_is_open_and_needs_nothing_open_is_ready_the_most_urgent_first() -> None:
    found = work(
        TrackerTask("c", NOTHING, OPEN),
        TrackerTask("b", NOTHING, OPEN, priority=0),
        TrackerTask("a", NOTHING, OPEN, needs=("done",)),
        TrackerTask("done", NOTHING, CLOSED),
    )
    assert ids(found.ready()) == ["b", "a", "c"]


def test_neither_an_epic_nor_what_is_under_way_put_off_blocked_or_closed_is_ready() -> None:
    statuses = (IN_PROGRESS, BLOCKED, DEFERRED, CLOSED)
    assert (
        work(
            TrackerTask("e", NOTHING, OPEN, kind=EPIC), *(TrackerTask(each, NOTHING, each) for each in statuses)
        ).ready()
        == ()
    )


def test_what_needs_something_that_is_not_closed_is_blocked_whatever_its_state() -> None:
    for status in (OPEN, IN_PROGRESS, BLOCKED, DEFERRED):
        found = work(TrackerTask("a", NOTHING, OPEN, needs=("b",)), TrackerTask("b", NOTHING, status))
        assert "a" not in ids(found.ready())
        assert "a" in ids(found.blocked())


def test_a_need_that_nobody_knows_any_more_blocks_nothing() -> None:
    found = work(TrackerTask("a", NOTHING, OPEN, needs=("gone",)))
    assert ids(found.ready()) == ["a"]
    assert found.blocked() == ()


def test_the_tasks_of_an_epic_name_it_or_have_its_id_before_a_dot() -> None:
    found = work(
        TrackerTask("x-1", NOTHING, OPEN, kind=EPIC), TrackerTask("x-1.2", NOTHING, OPEN),
        TrackerTask("x-7", NOTHING, OPEN, parent="x-1"),
        TrackerTask("x-10", NOTHING, OPEN), TrackerTask("x-12.1", NOTHING, OPEN),
        TrackerTask("y", NOTHING, OPEN, parent="x-1.2"),
    )  # fmt: skip
    assert ids(found.children("x-1")) == ["x-1.2", "x-7"]


def test_the_most_urgent_are_those_of_the_highest_priority_that_are_not_closed() -> None:
    found = work(
        TrackerTask("a", NOTHING, OPEN, priority=0),
        TrackerTask("b", NOTHING, CLOSED, priority=0),
        TrackerTask("c", NOTHING, OPEN, priority=1),
    )
    assert ids(found.urgent()) == ["a"]
    assert ids(found._replace(highest=-3).urgent()) == []


def test_ids_that_are_no_task_are_missing() -> None:
    assert work(TrackerTask("a", NOTHING, OPEN)).missing(("x", "a", "", "y", "x")) == ("x", "y")
