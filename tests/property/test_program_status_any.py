"""OSC 7501 from any bytes, split anywhere: the same reports, within the protocol's limits, and never an error."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st

from midwatch.terminal.program_status import (
    KINDS,
    LONGEST_MESSAGE,
    LONGEST_TITLE,
    MOST_PROGRESS,
    STATES,
    StatusRecords,
    StatusStream,
)

WORDS = st.sampled_from([*STATES, *KINDS, "state", "id", "kind", "progress", "msg", "title", "=", ":", "?", "a/b", "7"])
CODED = st.binary(max_size=40).map(lambda data: base64.b64encode(data).decode())
PAYLOADS = st.lists(WORDS | CODED | st.text(max_size=5), max_size=12).map("".join)
PIECES = st.one_of(
    st.binary(max_size=30),
    st.sampled_from([b"\x1b", b"\x1b]", b"\x1b]7501;", b"\x1bc", b"\x1b]133;A", b"\x07", b"\x1b\\", b"\x9d7501;"]),
    PAYLOADS.map(lambda text: b"\x1b]7501;" + text.encode("utf-8", "replace") + b"\x07"),
    st.sampled_from(STATES).map(lambda state: f"\x1b]7501;state={state}:msg=QUJD\x1b\\".encode()),
    st.integers(4000, 4200).map(lambda count: b"\x1b]7501;state=done:x=" + b"x" * count + b"\x07"),
)
STREAMS = st.lists(PIECES, max_size=12).map(b"".join)


@given(STREAMS, st.lists(st.integers(0, 6000), max_size=8))
def test_reports_are_the_same_however_the_stream_is_split(data: bytes, cuts: list[int]) -> None:
    whole = StatusStream().feed(data)
    stream, found, last = StatusStream(), [], 0
    for cut in [*sorted(min(cut, len(data)) for cut in cuts), len(data)]:
        found += stream.feed(data[last:cut])
        last = cut
    assert found == whole


@given(STREAMS)
def test_a_report_holds_only_plain_text_within_the_limits(data: bytes) -> None:
    records = StatusRecords()
    for each in StatusStream().feed(data):
        records.take(each)
        if isinstance(each, str):
            continue
        assert each["state"] in STATES
        assert each.get("kind", KINDS[0]) in KINDS
        assert 0 <= int(each.get("progress", 0)) <= MOST_PROGRESS
        for key, most in (("title", LONGEST_TITLE), ("msg", LONGEST_MESSAGE)):
            text = str(each.get(key, ""))
            assert len(text.encode()) <= most
            assert not any(ord(letter) < ord(" ") or "\x7f" <= letter <= "\x9f" for letter in text)
    assert all(each["state"] != "clear" for each in records.of.values())
