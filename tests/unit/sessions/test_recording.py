"""A timeline says again exactly what was seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.core.errors import FormatError
from midwatch.core.pane_model import Observation, Pane, ProcessInfo, SourceReport
from midwatch.sessions.codec import recording

PANE = Pane((), "%1", "main", 10, "title", "claude", "/x", 80, 24, 1, 2, True, False, False, "", 7)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
tasks = st.builds(
    ProcessInfo, st.integers(1, 9), st.integers(0, 9), st.sampled_from("SRT"), words, st.tuples(words), st.just(5),
    cpu_s=st.floats(0, 9), io=st.floats(0, 9),
)  # fmt: skip
reports = st.builds(
    SourceReport, st.sampled_from(["state", "hook"]), st.none() | st.just(3.5), st.dictionaries(words, words)
)
looks = st.tuples(words, st.lists(words, max_size=4), st.lists(tasks, max_size=2), st.lists(reports, max_size=1))


@given(st.lists(looks, min_size=1, max_size=5))
def test_what_is_written_is_read(seen: list[tuple[str, list[str], list[ProcessInfo], list[SourceReport]]]) -> None:
    sightings = [
        Observation("claude", PANE._replace(title=title), tuple(rows), tuple(some), tuple(told), float(n), 1000.0 + n)
        for n, (title, rows, some, told) in enumerate(seen)
    ]
    writer = recording.RecordingWriter()
    header = recording.RecordingHeader("claude", "2.1", "x")
    truth = recording.RecordedTruth(0.5, "working", "model", "server: asked")
    lines = [writer.header(header), *(writer.line(each) for each in sightings), recording.encode_truth(truth)]
    assert list(recording.read_recording(lines, "t")) == [header, *sightings, truth]


def test_what_did_not_change_is_not_written_again() -> None:
    writer = recording.RecordingWriter()
    seen = Observation("claude", PANE, ("a", "b"), (), (), 1.0, 1001.0)
    writer.line(seen)
    assert writer.line(seen._replace(rows=("a", "c"), now=2.0)) == '{"at":1.0,"wall":1001.0,"rows":{"1":"c"}}'


@pytest.mark.parametrize(
    ("text", "says"), [("{}", "t:1: not a timeline"), ("[1]", "t:1: not a line"), ("nonsense", "t:1: not a line")]
)
def test_what_is_no_timeline_is_refused_with_its_line(text: str, says: str) -> None:
    with pytest.raises(FormatError, match=says):
        list(recording.read_recording([text], "t"))
