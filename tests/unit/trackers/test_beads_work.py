"""Beads' file and the JSON of its programs, in every form that was seen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from midwatch.trackers.codec import beads
from midwatch.trackers.model import BLOCKED, CLOSED, DEFERRED, IN_PROGRESS, OPEN, TrackerError, Work

NOON = "2026-01-01T12:00:00Z"
SECONDS = 1767268800.0


def issue(own: str, **more: Any) -> dict[str, Any]:
    return {"id": own, "title": f"do {own}", "status": "open", "priority": 1, "issue_type": "task"} | more


def read(*issues: dict[str, Any] | str, now: float | None = None) -> Work:
    return beads.parse_work(
        "\n".join([each if isinstance(each, str) else json.dumps(each) for each in issues]), "a test", now
    )


def link(own: str, to: str, kind: str) -> dict[str, str]:
    return {"issue_id": own, "depends_on_id": to, "type": kind}


def ids(work: Work) -> list[str]:
    return [task.id for task in work.ready()]


def test_every_field_of_an_issue_is_read() -> None:
    found = read(
        issue(
            "bd-1", status="closed", issue_type="bug", labels=["a", "b"], assignee="pane2", updated_at=NOON,
            closed_at="2026-01-01T12:00:01.5+00:00", dependencies=[link("bd-1", "bd-0", "parent-child")],
            comments=[{"id": 1, "author": "x", "text": "first"}, {"id": 2, "author": "x", "text": "second"}],
        )
    ).tasks["bd-1"]  # fmt: skip
    assert (found.title.raw, found.status, found.said.raw, found.kind, found.priority) == (
        "do bd-1",
        CLOSED,
        "closed",
        "bug",
        1,
    )
    assert (found.labels, found.parent, found.needs, found.assignee.raw) == (("a", "b"), "bd-0", (), "pane2")
    assert (found.updated, found.closed) == (SECONDS, SECONDS + 1.5)
    assert [note.raw for note in found.notes] == ["first", "second"]


def test_an_issue_with_nothing_but_an_id_is_an_open_task() -> None:
    found = read('{"id": "x"}').tasks["x"]
    assert (found.status, found.kind, found.priority, found.updated, found.closed) == (OPEN, "task", 2, None, None)


@pytest.mark.parametrize("kind", ["blocks", "conditional-blocks", "waits-for"])
def test_a_dependency_that_blocks_is_a_need(kind: str) -> None:
    found = read(issue("a", dependencies=[link("a", "b", kind)]), issue("b"))
    assert found.tasks["a"].needs == ("b",)
    assert ids(found) == ["b"]


@pytest.mark.parametrize("kind", ["related", "discovered-from", "parent-child", "something new"])
def test_any_other_dependency_keeps_nobody_from_beginning(kind: str) -> None:
    found = read(issue("a", dependencies=[link("a", "b", kind)]), issue("b"))
    assert ids(found) == ["a", "b"]


def test_a_dependency_of_another_issue_or_on_itself_does_not_count() -> None:
    found = read(issue("a", dependencies=[link("c", "b", "blocks"), link("a", "a", "blocks")]), issue("b"))
    assert found.tasks["a"].needs == ()


def test_what_an_epic_needs_its_children_need_but_an_epic_that_needs_its_children_blocks_none() -> None:
    family = [
        issue("e", issue_type="epic", dependencies=[link("e", "b", "blocks"), link("e", "e.1", "blocks")]),
        issue("e.1", dependencies=[link("e.1", "e", "parent-child")]),
        issue("e.1.1", dependencies=[link("e.1.1", "e.1", "parent-child")]),
    ]
    assert ids(read(*family, issue("b"))) == ["b"]
    assert ids(read(*family, issue("b", status="closed"))) == ["e.1", "e.1.1"]


def test_parents_in_a_circle_are_read_all_the_same() -> None:
    found = read(
        issue("a", dependencies=[link("a", "b", "parent-child")]),
        issue("b", dependencies=[link("b", "a", "parent-child")]),
    )
    assert ids(found) == ["a", "b"]


def test_what_was_removed_is_no_task_also_if_it_was_one_before() -> None:
    found = read(issue("a"), issue("b"), issue("a", status="tombstone"))
    assert list(found.tasks) == ["b"]


@pytest.mark.parametrize(
    "more",
    [
        {"status": "pinned"},
        {"status": "hooked"},
        {"status": "waiting_for_legal"},
        {"pinned": True},
        {"ephemeral": 1},
        {"is_template": True},
    ],
    ids=str,
)
def test_what_we_have_no_word_for_is_deferred_and_keeps_its_own(more: dict[str, Any]) -> None:
    found = read(issue("a", **more)).tasks["a"]
    assert (found.status, found.said.raw) == (DEFERRED, more.get("status", "open"))


def test_what_is_put_off_is_deferred_until_then() -> None:
    late = issue("a", defer_until=NOON)
    assert read(late, now=SECONDS - 1).tasks["a"].status == DEFERRED
    assert read(late, now=SECONDS).tasks["a"].status == OPEN
    assert read(late | {"status": "in_progress"}, now=SECONDS - 1).tasks["a"].status == IN_PROGRESS


def test_the_last_line_of_an_id_counts_and_what_is_no_issue_is_passed_over() -> None:
    found = read("<<<<<<< HEAD", issue("a"), "{", "[]", '{"id": 7}', '{"id": ""}', "null", issue("a", status="blocked"))
    assert {own: task.status for own, task in found.tasks.items()} == {"a": BLOCKED}


def test_only_a_line_feed_ends_a_line() -> None:
    line = beads.encode_issue(issue("a", title="one\u2028two\x85three"))
    assert "\u2028" in line
    assert beads.parse_work(line, "a test").tasks["a"].title.raw == "one\u2028two\x85three"
    assert beads.parse_statuses(line) == {"a": "open"}


def test_a_file_that_holds_something_and_no_issue_is_an_error_and_an_empty_one_is_no_work() -> None:
    with pytest.raises(TrackerError, match="a test holds no issue that can be read"):
        beads.parse_work("rubbish\n", "a test")
    assert beads.parse_work("\n\n", "a test").tasks == {}


@pytest.mark.parametrize("left", [1, 20, 40])
def test_a_file_that_is_cut_off_is_an_error(left: int) -> None:
    first, last = json.dumps(issue("a")), json.dumps(issue("b"))
    with pytest.raises(TrackerError, match="a test is cut off in line 2: issues are missing"):
        beads.parse_work(f"{first}\n{last[:left]}", "a test")
    with pytest.raises(TrackerError, match="cut off in line 2"):
        beads.parse_work(f"{first}\n\0\0\0", "a test")
    for whole in (f"{first}\n{last}", f"{first}\n{last}\n", f"{first}\n"):
        assert beads.parse_work(whole, "a test").trouble == ""


def test_lines_that_are_no_json_are_told_and_those_of_another_kind_are_not() -> None:
    conflict = read("<<<<<<< HEAD", issue("a"), "=======", issue("b"), ">>>>>>> other", issue("c"))
    assert (len(conflict.tasks), conflict.trouble) == (
        3, "a test: line 1 and 2 more cannot be read and may be an issue; correct it",
    )  # fmt: skip
    assert read(issue("a"), '{"_type": "memory", "key": "k"}', "[]", "", issue("b")).trouble == ""


def test_fields_of_the_wrong_kind_are_taken_for_nothing() -> None:
    odd: dict[str, Any] = {
        "title": 7, "status": None, "priority": "high", "labels": "x", "dependencies": [7, {}], "comments": {},
        "updated_at": "yesterday", "assignee": [], "parent": 3,
    }  # fmt: skip
    found = read({"id": "a"} | odd).tasks["a"]
    assert found == read('{"id": "a"}').tasks["a"]


def test_a_stale_moment_of_closing_is_not_that_of_an_open_issue() -> None:
    assert read(issue("a", closed_at=NOON)).tasks["a"].closed is None


# What programs print


FORMS = {
    "a bare array": '[{"id": "a"}, {"id": "b"}]',
    "an object": '{"issues": [{"id": "a"}, {"id": "b"}], "total": 2}',
    "an envelope": '{"schema_version": 1, "data": [{"id": "a"}, {"id": "b"}]}',
    "an object in an envelope": '{"schema_version": 1, "data": {"issues": [{"id": "a"}, {"id": "b"}]}}',
    "after a warning": 'warning: [old] database\n[\n  {"id": "a"},\n  {"id": "b"}\n]\n',
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_list_is_understood(form: str) -> None:
    assert [each["id"] for each in beads.parse_answer(FORMS[form], "", "br list")] == ["a", "b"]


def test_one_issue_alone_is_a_list_of_one() -> None:
    assert beads.parse_answer('{"id": "a", "title": "x"}', "", "br create") == [{"id": "a", "title": "x"}]


def test_a_list_of_nothing_is_an_answer() -> None:
    assert beads.parse_answer("[]", "", "br list") == []


def test_what_show_tells_of_dependencies_is_understood() -> None:
    shown = beads.parse_answer(
        '[{"id": "a", "status": "open", "parent": "e", "dependencies": [{"id": "b", "dependency_type": "blocks"},'
        ' {"id": "e", "status": "open", "dependency_type": "parent-child"}]}]',
        "", "br show",
    )  # fmt: skip
    found = beads.build_work(shown, "a test").tasks["a"]
    assert (found.needs, found.parent) == (("b",), "e")


ERRORS = {
    "old, on standard error": ("", '{"error": {"code": "X", "message": "no such issue: q", "hint": "br list"}}'),
    "new, on standard output": ('{"error": {"code": "X", "message": "no such issue: q"}}', ""),
    "a mere text": ('{"error": "no such issue: q"}', ""),
    "after an answer": ('[{"id": "a"}]\n{"error": {"message": "no such issue: q"}}', ""),
    "in an envelope": ('{"schema_version": 1, "data": {"error": "no such issue: q"}}', ""),
    "beside an envelope": ('{"schema_version": 1, "error": "no such issue: q"}', ""),
}


@pytest.mark.parametrize("form", ERRORS)
def test_every_form_of_an_error_is_told_in_its_words(form: str) -> None:
    with pytest.raises(TrackerError, match="`br show` said: no such issue: q"):
        beads.parse_answer(*ERRORS[form], "br show")


@pytest.mark.parametrize("out", ["", "rubbish\x1b[31m", "[{", "{}", "7", "[" * 100_000])
def test_what_is_no_answer_is_an_error(out: str) -> None:
    with pytest.raises(TrackerError, match="is that a program of beads"):
        beads.parse_answer(out, "", "br list")


def test_half_a_surrogate_pair_survives_being_written() -> None:
    text = '{"id": "a", "title": "\\ud83d", "extra": {"ä": 1.5}}'
    found = beads.parse_issue(text)
    assert found is not None
    written = beads.encode_issue(found)
    written.encode()
    assert json.loads(written) == json.loads(text)
