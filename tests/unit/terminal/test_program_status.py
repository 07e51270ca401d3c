"""OSC 7501 in a stream of bytes: what is a report, what is not, and what several say together."""

from __future__ import annotations

import base64

import pytest

from midwatch.terminal.program_status import (
    ASKS,
    MOST_RECORDS,
    PROMPTS,
    RESETS,
    StatusRecords,
    StatusStream,
    parse_report,
)


def coded(text: str | bytes) -> str:
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


def osc(payload: str, end: str = "\x07") -> bytes:
    return f"\x1b]7501;{payload}{end}".encode()


@pytest.mark.parametrize("end", ["\x07", "\x1b\\"])
def test_a_report_is_found_in_the_midst_of_other_output(end: str) -> None:
    data = b"\x1b[1mhello\x1b]0;title\x07" + osc("state=working:app=claude-code", end) + b"more \x1b[0m"
    assert StatusStream().feed(data) == [{"state": "working", "app": "claude-code"}]


def test_all_that_a_report_may_hold() -> None:
    payload = f"state=blocked:id=a/b.1:kind=permission:progress=40:app=x:title={coded('T')}:msg={coded('approve: ü')}"
    assert parse_report(payload.encode()) == {
        "state": "blocked", "id": "a/b.1", "kind": "permission", "progress": 40, "app": "x", "title": "T",
        "msg": "approve: ü",
    }  # fmt: skip


def test_the_question_whether_anybody_reads_a_reset_and_a_prompt_are_told_apart() -> None:
    data = osc("?") + b"\x1bc" + b"\x1b]133;A\x07" + osc("?", "\x1b\\")
    assert StatusStream().feed(data) == [ASKS, RESETS, PROMPTS, ASKS]


@pytest.mark.parametrize(
    "payload",
    [
        "", "working", "state", "state=", "state=busy", "STATE=done", "id=a", "state=done:msg=***", "state=done:msg=QQ",
        f"state=done:msg={coded('two' + chr(10) + 'lines')}", f"state=done:title={coded(chr(27) + '[2J')}",
        f"state=done:msg={coded(chr(0x9B) + '2J')}", f"state=done:msg={coded(bytes([255]))}",
        f"state=done:msg={coded('x' * 2049)}", f"state=done:title={coded('x' * 193)}",
        "state=done:id=a//b", "state=done:id=/", "state=done:id=a b", f"state=done:id={'a' * 33}",
        f"state=done:id={'/'.join('a' * 9)}", f"state=done:id={'/'.join(['a' * 32] * 4)}",
    ],
)  # fmt: skip
def test_what_is_malformed_is_no_report(payload: str) -> None:
    assert parse_report(payload.encode()) is None


@pytest.mark.parametrize(
    ("payload", "left"),
    [
        ("state=done:later=1:noequals:=x", {"state": "done"}),
        ("state=done:kind=permission", {"state": "done"}),
        ("state=blocked:kind=other", {"state": "blocked"}),
        ("state=done:progress=5", {"state": "done"}),
        ("state=working:progress=x", {"state": "working"}),
        ("state=working:progress=-1", {"state": "working"}),
        ("state=working:progress=101", {"state": "working", "progress": 100}),
        ("state=working:progress=99999", {"state": "working"}),
        (f"state=working:app={'x' * 33}", {"state": "working"}),
        ("state=idle:state=done", {"state": "done"}),
    ],
)
def test_of_a_report_what_does_not_belong_there_is_passed_over(payload: str, left: dict[str, str | int]) -> None:
    assert parse_report(payload.encode()) == left


def test_a_sequence_that_is_too_long_is_none() -> None:
    whole = osc("state=working:junk=" + "x" * 4000)
    assert StatusStream().feed(whole) == [{"state": "working"}]
    assert StatusStream().feed(osc("state=working:junk=" + "x" * 4096)) == []


def test_what_never_ends_is_not_kept() -> None:
    stream = StatusStream()
    assert stream.feed(b"\x1b]7501;state=working:junk=") == []
    for _ in range(100):
        assert stream.feed(b"x" * 1000) == []
    assert stream.feed(b"\x07" + osc("state=done")) == [{"state": "done"}]


def test_a_report_replaces_the_one_before_whole() -> None:
    records = StatusRecords()
    assert records.take({"state": "working", "msg": "a"})
    assert records.take({"state": "working"})
    assert not records.take({"state": "working"})
    assert records.of == {"": {"state": "working"}}
    assert records.before == ""
    assert records.take({"state": "idle"})
    assert records.before == "working"


def test_clear_takes_a_record_with_all_below_it() -> None:
    records = StatusRecords()
    records.take_all([{"state": "working"}])
    records.take_all({"state": "working", "id": name} for name in ("a", "a/b", "ab"))
    records.take({"state": "clear", "id": "a"})
    assert [*records.of] == ["", "ab"]
    records.take({"state": "clear"})
    assert records.of == {}
    assert not records.take({"state": "clear"})


@pytest.mark.parametrize(("event", "left"), [(RESETS, []), (PROMPTS, ["done", "error"]), (ASKS, [*"abcd"])])
def test_a_shells_prompt_ends_what_cannot_go_on_there_and_a_reset_ends_all(event: str, left: list[str]) -> None:
    records = StatusRecords()
    states = {"a": "working", "b": "blocked", "c": "done", "d": "error"}
    records.take_all({"state": state, "id": name} for name, state in states.items())
    records.take(event)
    assert [name if event == ASKS else states[name] for name in records.of] == left


def test_there_are_never_more_records_than_the_protocol_allows() -> None:
    records = StatusRecords()
    records.take_all({"state": "working", "id": str(number)} for number in range(1000))
    assert len(records.of) == MOST_RECORDS
    assert records.take({"state": "done", "id": "7"})
    assert not records.take({"state": "working", "id": "one-more"})
