"""Reports to a terminal as bytes, and its answers to the query."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.terminal.status_report import (
    APP,
    KINDS,
    LEVELS,
    MESSAGE,
    NAMED,
    PATH,
    QUERY,
    SEGMENT,
    SEQUENCE,
    STATES,
    TITLE,
    StatusAnswers,
    encode_bar,
    encode_status,
)


def pairs(sequence: bytes) -> dict[str, str]:
    """What a terminal reads in a report."""
    assert sequence.startswith(b"\x1b]7501;")
    assert sequence.endswith(b"\x1b\\")
    found = [pair.partition("=") for pair in sequence[7:-2].decode("ascii").split(":")]
    assert len({key for key, _, _ in found}) == len(found)
    return {key: value for key, _, value in found}


def decoded(value: str) -> str:
    return base64.b64decode(value, validate=True).decode("utf-8")


# Reports ------------------------------------------------------------------------------------------------------


def test_a_report_says_what_it_was_given() -> None:
    report = encode_status(
        "blocked", path="a/b-1", kind="permission", progress=40, app="midwatch", title="api", msg="Write?"
    )
    assert report == (
        b"\x1b]7501;state=blocked:id=a/b-1:kind=permission:progress=40:app=midwatch:title=YXBp:msg=V3JpdGU/\x1b\\"
    )


def test_what_is_not_known_is_left_out() -> None:
    assert encode_status("idle") == b"\x1b]7501;state=idle\x1b\\"


def test_a_cleared_record_has_nothing_but_its_id() -> None:
    assert (
        encode_status("clear", path="x", app="midwatch", title="api", msg="gone") == b"\x1b]7501;state=clear:id=x\x1b\\"
    )


@pytest.mark.parametrize("character", ["a", "é", "€", "𝄞"])
@pytest.mark.parametrize(("field", "most"), [("title", TITLE), ("msg", MESSAGE)])
def test_long_text_is_cut_between_two_characters(field: str, most: int, character: str) -> None:
    text: dict[str, Any] = {field: "x" + character * most}
    found = decoded(pairs(encode_status("working", **text))[field])
    assert ("x" + character * most).startswith(found)
    assert most - len(character.encode()) < len(found.encode()) <= most


def test_control_characters_become_blanks() -> None:
    assert decoded(pairs(encode_status("done", msg="a\x1b]0;b\x07\r\n\x9bc\u202ed\udcff"))["msg"]) == "a ]0;b    c d "


@pytest.mark.parametrize(
    "wrong",
    [
        {"state": "busy"},
        {"kind": "permission"},
        {"state": "blocked", "kind": "money"},
        {"progress": 101},
        {"progress": -1},
        {"state": "done", "progress": 100},
        {"path": "a//b"},
        {"path": "a:b"},
        {"path": "a" * (SEGMENT + 1)},
        {"path": "/".join("a" * (LEVELS + 1))},
        {"path": "/".join(["a" * SEGMENT] * 4)},
        {"app": "dog watch"},
        {"app": "d" * (APP + 1)},
        {"app": "é"},
    ],
    ids=str,
)
def test_what_no_terminal_would_accept_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no "):
        encode_status(**({"state": "working"} | wrong))


NAME = st.text(st.sampled_from(sorted(NAMED)), min_size=1, max_size=SEGMENT)
REPORTS = st.builds(
    lambda state, path, kind, progress, **texts: {
        "state": state,
        "path": path,
        "kind": kind if state == "blocked" else "",
        "progress": progress if state in ("blocked", "working") else None,
        **texts,
    },
    state=st.sampled_from(STATES),
    path=st.lists(NAME, max_size=LEVELS).map("/".join).filter(lambda path: len(path) <= PATH),
    kind=st.sampled_from(["", *KINDS]),
    progress=st.none() | st.integers(0, 100),
    app=st.just("") | NAME,
    title=st.text() | st.text(min_size=1).map(lambda text: text * 200),
    msg=st.text() | st.text(min_size=1).map(lambda text: text * 2000),
)


@given(REPORTS)
def test_any_report_keeps_the_limits_and_holds_no_control_character(report: dict[str, Any]) -> None:
    sequence = encode_status(**report)
    assert len(sequence) <= SEQUENCE
    assert all(0x20 <= byte < 0x7F for byte in sequence[2:-2])
    found = pairs(sequence)
    for field, most in (("title", TITLE), ("msg", MESSAGE)):
        text = decoded(found.get(field, ""))
        assert len(text.encode()) <= most
        assert text.isprintable()


# The bar ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "progress", "bar"),
    [
        ("working", None, b"3;0"),
        ("working", 0, b"1;0"),
        ("working", 40, b"1;40"),
        ("error", None, b"2;100"),
        ("blocked", None, b"4;100"),
        ("blocked", 40, b"4;40"),
        ("done", None, b"0;0"),
        ("idle", None, b"0;0"),
        ("clear", None, b"0;0"),
    ],
)
def test_a_state_as_a_bar(state: str, progress: int | None, bar: bytes) -> None:
    assert encode_bar(state, progress) == b"\x1b]9;4;" + bar + b"\x07"


# Answers ------------------------------------------------------------------------------------------------------

YES, ATTRIBUTES = b"\x1b]7501;?\x1b\\", b"\x1b[?62;22c"


def heard(data: bytes) -> StatusAnswers:
    answers = StatusAnswers()
    for byte in data:
        assert not answers.over
        answers.feed(byte)
    answers.finish()
    return answers


def test_the_query_asks_for_both_answers() -> None:
    assert QUERY == b"\x1b]7501;?\x1b\\\x1b[c"


@pytest.mark.parametrize("yes", [YES, b"\x1b]7501;?\x07", b"\x1b]7501;?;v=1\x1b\\"])
def test_a_terminal_that_answers_first_supports_it(yes: bytes) -> None:
    answers = heard(yes + ATTRIBUTES)
    assert (answers.supported, answers.over, answers.typed) == (True, True, b"")


def test_a_terminal_that_only_says_what_it_is_does_not() -> None:
    answers = heard(ATTRIBUTES)
    assert (answers.supported, answers.over, answers.typed) == (False, True, b"")


def test_no_answer_is_no_answer() -> None:
    answers = heard(b"")
    assert (answers.supported, answers.over, answers.typed) == (None, False, b"")


@pytest.mark.parametrize(
    "typed", [b"ls\r", b"\x1b", b"\x1b\x1b", b"\x1b[A", b"\x1b[1;5C", b"\x1bOP", b"\x1bx", b"\x1b[[A", "é€".encode()]
)
@pytest.mark.parametrize("yes", [YES, b""])
def test_what_is_typed_before_and_between_the_answers_is_kept(typed: bytes, yes: bytes) -> None:
    answers = heard(typed + yes + typed + ATTRIBUTES)
    assert (answers.supported, answers.over, answers.typed) == (bool(yes), True, typed * 2)


def test_another_sequence_of_the_terminal_is_left_to_others() -> None:
    other = b"\x1b]11;rgb:0000/0000/0000\x1b\\"
    assert heard(other + ATTRIBUTES).typed == other


def test_half_an_answer_is_kept() -> None:
    assert heard(b"\x1b]7501").typed == b"\x1b]7501"
    assert heard(b"a\x1b[").typed == b"a\x1b["


def test_a_string_that_never_ends_does_not_hide_the_next_answer() -> None:
    answers = heard(b"\x1b]0;x" + ATTRIBUTES)
    assert (answers.supported, answers.over, answers.typed) == (False, True, b"\x1b]0;x")
    assert heard(b"\x1b]" + b"x" * 1000).typed == b"\x1b]" + b"x" * 1000


@given(st.lists(st.sampled_from([b"\x1b", b"]", b"[", b"7501;?", b"\\", b"\x07", b"?", b"c", b"a"]), max_size=20))
def test_nothing_is_lost_but_answers(parts: list[bytes]) -> None:
    answers, read = StatusAnswers(), b""
    for byte in b"".join(parts):
        if answers.over:
            break
        answers.feed(byte)
        read += bytes((byte,))
    answers.finish()
    if answers.supported is None:
        assert answers.typed == read
    else:
        assert len(answers.typed) < len(read)
