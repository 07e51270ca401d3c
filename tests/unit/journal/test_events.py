"""A line of a spool comes out as it went in; whatever is no line is never an exception, and costs no other line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.core.errors import FormatError
from midwatch.core.event import Event
from midwatch.core.names import PLAIN
from midwatch.journal import codec as journal_codec
from midwatch.system import atomic_files

GOLDEN = Path(__file__).parents[2] / "goldens" / "formats" / "v1" / "build.18f6a2b3c4d-a1b2c3.jsonl"

HEAD = ("schema", "run", "n", "at", "name", "event")
plain = st.text(sorted(PLAIN), min_size=1, max_size=9).filter(lambda text: text[0] not in ".-")
keys = st.text(max_size=5) | st.just("schema")
numbers = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=5,
)
bodies = st.dictionaries(keys.filter(lambda key: key not in journal_codec.OWN), values, max_size=4)
heads = st.tuples(st.just(1), plain, st.integers(1, 1 << 50), st.floats(0, 9e10), plain, plain)
lines = st.builds(lambda head, body: dict(zip(HEAD, head, strict=True)) | body, heads, bodies)


def as_bytes(line: dict[str, Any]) -> bytes:
    """As a shim writes it."""
    return atomic_files.dumps(line).encode("utf-8", "surrogateescape")


@given(lines)
def test_a_line_comes_out_as_it_went_in(line: dict[str, Any]) -> None:
    event = journal_codec.decode_event(as_bytes(line))
    assert json.loads(journal_codec.encode_event(event._replace(seq=7))) == line | {"seq": 7}


@given(lines)
def test_what_is_printed_is_one_line_whoever_splits_it(line: dict[str, Any]) -> None:
    shown = journal_codec.encode_event(journal_codec.decode_event(as_bytes(line)))
    assert shown.isascii()
    assert shown.splitlines() == [shown]


@given(st.sampled_from(["started", "attempt", "ended", "quiet", "else"]), bodies)
def test_words_are_found_for_any_body_and_cannot_move_a_cursor(event: str, body: dict[str, Any]) -> None:
    assert journal_codec.format_event(event, body).isprintable()


@given(st.binary())
def test_bytes_that_are_no_event_are_kept_as_they_are(rubbish: bytes) -> None:
    assert journal_codec.split_line(rubbish) == [rubbish]


@given(lines, st.lists(st.tuples(lines, st.floats(0, 1)), max_size=3))
def test_a_line_behind_others_that_were_cut_off_is_not_lost(
    line: dict[str, Any], before: list[tuple[dict[str, Any], float]]
) -> None:
    torn = b"".join(as_bytes(each)[: int(len(as_bytes(each)) * part)] for each, part in before)
    found = journal_codec.split_line(torn + as_bytes(line))
    assert found[-1] == journal_codec.decode_event(as_bytes(line))
    assert all(isinstance(part, Event) or part in torn for part in found)


@given(lines, st.data())
def test_a_line_that_was_cut_off_is_no_event(line: dict[str, Any], data: st.DataObject) -> None:
    whole = as_bytes(line)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    assert journal_codec.split_line(cut) == [cut]


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2}, {"schema": None}, {"n": 0}, {"n": -1}, {"n": True}, {"n": 1.0}, {"n": "1"}, {"n": 1 << 60},
        {"at": -1}, {"at": 1e12}, {"at": "now"}, {"at": None}, {"at": True}, {"run": ""}, {"run": None}, {"run": 5},
        {"name": "../x"}, {"name": "a b"}, {"name": ["a"]}, {"event": ""}, {"event": "x" * 101}, {"event": "\ud800"},
    ],
    ids=str,
)  # fmt: skip
def test_a_field_that_is_not_what_it_should_be_is_a_format_error(change: dict[str, Any]) -> None:
    line = {"schema": 1, "run": "r", "n": 1, "at": 5.0, "name": "a", "event": "e"}
    journal_codec.decode_event(as_bytes(line))
    with pytest.raises(FormatError, match="not an event"):
        journal_codec.decode_event(as_bytes(line | change))


@pytest.mark.parametrize("missing", ["schema", "run", "n", "at", "name", "event"])
def test_a_missing_field_is_a_format_error(missing: str) -> None:
    line = {"schema": 1, "run": "r", "n": 1, "at": 5.0, "name": "a", "event": "e"}
    del line[missing]
    with pytest.raises(FormatError, match="not an event"):
        journal_codec.decode_event(as_bytes(line))


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", "[" * 100_000, '"\xff', "9" * 5000])
def test_what_no_other_reader_of_json_would_take_is_a_format_error(value: str) -> None:
    text = f'{{"schema": 1, "run": "r", "n": 1, "at": 5, "name": "a", "event": "e", "more": {value}}}'
    with pytest.raises(FormatError, match="not an event"):
        journal_codec.decode_event(text.encode("latin-1"))


def test_what_cannot_be_read_is_known_by_its_place_and_its_first_bytes() -> None:
    torn = journal_codec.unreadable_event("a", "r", 0, b"\xff{" * 500, 1000, 5.0)
    assert torn.n == -1
    assert journal_codec.event_body(torn) == {"text": "\ufffd{" * 100, "bytes": 1000, "place": 0}


def test_a_note_cannot_take_the_place_of_what_every_event_has() -> None:
    noted = journal_codec.uncounted_event("", 5.0, "a", "trusted", {"by": "me", "seq": 99, "schema": 7})
    assert json.loads(journal_codec.encode_event(noted)) == {
        "schema": 1, "seq": 0, "run": "", "n": None, "at": 5.0, "name": "a", "event": "trusted", "by": "me",
    }  # fmt: skip


def test_lines_of_the_first_release_load_and_are_told() -> None:
    found = [journal_codec.decode_event(line) for line in GOLDEN.read_bytes().splitlines()]
    assert [
        f"{event.event}: {journal_codec.format_event(event.event, journal_codec.event_body(event))}" for event in found
    ] == [
        "started: pid 5144",
        "stale: no output for 10m; its grace period begins",
        "stuck: no output for 10m 30s",
        "moved: ",
        "suspended: by signal 20",
        "continued: ",
        "undecided: the judge gave no answer; only the timeout is enforced",
        "stopping: timeout: its time was up",
        "ended: timeout, killed by SIGTERM: its time was up",
    ]


@pytest.mark.parametrize(
    ("event", "body", "said"),
    [
        ("started", {"pid": 5, "attempt": 1, "mono": 7.5, "policy": {}}, "pid 5"),
        ("started", {"pid": 5, "attempt": 2}, "attempt 2, pid 5"),
        (
            "attempt",
            {"attempt": 1, "state": "failed", "exit_code": 0, "elapsed_s": 90},
            "attempt 1, failed, exit 0, after 1m 30s",
        ),
        ("retrying", {"attempt": 2, "in_s": 30, "reason": "it failed"}, "attempt 2, in 30s: it failed"),
        ("quiet", {"since": 100.5, "until": 160.5}, "for 1m"),
        ("lost", {"seconds": 7.5}, "for 7.5s"),
        ("lost", {"seconds": 10**400}, ""),
        ("other", {"who": "\x1b[31mme\n", "list": [1, None]}, "who \\e[31mme\\n, list [1,null]"),
    ],
)
def test_an_event_is_told_in_words(event: str, body: dict[str, Any], said: str) -> None:
    assert journal_codec.format_event(event, body) == said
