"""A status file: what the reports in it say together of one process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from midwatch.agents.program_status import codec as program_status_codec
from midwatch.core.errors import FormatError

HEAD: dict[str, Any] = {"at": 1.0, "up": 1.0, "schema": 1, "reader": [7, 70], "boot": "b"}


def text(*lines: dict[str, Any]) -> str:
    dated = [{"at": 100.0 + number, "up": 10.0 + number, **line} for number, line in enumerate((HEAD, *lines))]
    return "".join(json.dumps(line) + "\n" for line in dated)


def words(*lines: dict[str, Any], since: float = 0.0) -> dict[str, str]:
    status = program_status_codec.combine_reports(program_status_codec.read(text(*lines)), since)
    return {} if status is None else {k: v for k, v in status.words.items() if k != "count"}


def test_the_last_report_tells_and_when_it_was_made() -> None:
    found = program_status_codec.read(text({"state": "working"}, {"state": "done", "app": "x"}))
    assert (found.reader, found.boot) == ((7, 70), "b")
    status = program_status_codec.combine_reports(found, 0.0)
    assert status is not None
    assert (status.at, status.words) == (102.0, {"state": "done", "before": "working", "app": "x", "count": "2"})


def test_what_was_reported_before_the_process_began_says_nothing_of_it() -> None:
    assert words({"state": "done"}, {"state": "idle"}, since=12.0) == {"state": "idle"}
    assert words({"state": "done"}, since=12.0) == {}


def test_what_is_cleared_is_told_no_more() -> None:
    assert words({"state": "done"}, {"state": "clear"}) == {}
    assert words({"state": "working"}, {"event": "reset"}) == {}


def test_notes_on_the_handshake_are_no_reports() -> None:
    assert words({"answers": 35, "asked": True}) == {}
    assert words({"state": "idle"}, {"answers": 35, "asked": True}) == {"state": "idle"}


def test_a_part_that_is_blocked_blocks_the_whole() -> None:
    blocked = {"state": "blocked", "id": "sub", "kind": "permission", "msg": "approve Bash: ls"}
    status = program_status_codec.combine_reports(
        program_status_codec.read(text({"state": "working"}, blocked, {"state": "done"})), 0.0
    )
    assert status is not None
    assert status.at == 102.0
    assert (status.words["state"], status.words["kind"], status.words["children"]) == ("blocked", "permission", "1")
    assert status.words["message"] == "approve Bash: ls"


def test_a_program_of_which_only_parts_report_works_while_one_of_them_does() -> None:
    assert words({"state": "working", "id": "a"}) == {"state": "working", "children": "1"}
    assert words({"state": "done", "id": "a"})["state"] == "idle"


def test_text_of_a_program_is_one_bounded_line_that_hides_nothing() -> None:
    found = words({"state": "error", "msg": "turned \u202e around " + "x" * 500})
    assert found["message"].startswith("turned \\u202e around xxx")
    assert len(found["message"]) == program_status_codec.LONGEST_TEXT


def test_a_line_that_is_just_being_written_is_waited_for() -> None:
    whole = text({"state": "working"})
    assert program_status_codec.read(whole + '{"at": 3, "sta').lines == program_status_codec.read(whole).lines


NO_STATUS_FILES = ["", "\n", "no json\n", "[]\n", "{}\n", '{"reader": 5, "boot": ""}\n', '{"reader": []}\n']


@pytest.mark.parametrize("content", NO_STATUS_FILES)
def test_what_is_no_status_file_is_an_error(content: str) -> None:
    with pytest.raises(FormatError):
        program_status_codec.read(content)
