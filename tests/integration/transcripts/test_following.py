"""A transcript that grows, is cut, replaced, or is not what it should be."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midwatch.agents import transcript_follower
from midwatch.agents.claude.transcript import Claude
from midwatch.agents.codex.transcript import Codex
from midwatch.agents.gemini.transcript import Gemini
from midwatch.agents.transcript_follower import TranscriptFollower, TranscriptTail
from midwatch.core.pane_model import SourceReport
from midwatch.system.atomic_files import open_plain
from tests.integration.transcripts.conftest import SAMPLES, STARTED, Home

UUID = "b03dceae-438c-4405-b9d9-df6e5f8ef6cf"
PATH = f".claude/projects/-home-developer-proj/{UUID}.jsonl"
PROMPT = b'{"type":"user","timestamp":"2026-11-15T20:00:00Z","cwd":"/home/developer/proj","message":{"content":"go"}}\n'
CALL = (
    b'{"type":"assistant","timestamp":"2026-11-15T20:00:01Z","message":{"stop_reason":"tool_use","content":'
    b'[{"type":"tool_use","id":"a","name":"Bash"}]}}\n'
)
DONE = b'{"type":"system","subtype":"turn_duration","timestamp":"2026-11-15T20:00:02Z"}\n'


def words(report: SourceReport | None) -> dict[str, str]:
    assert report is not None
    assert report.trouble == ""
    return report.words


@settings(max_examples=60, deadline=None)
@given(cuts=st.lists(st.integers(0, 50_000), max_size=12), name=st.sampled_from(["claude", "codex"]))
def test_however_it_grows_it_tells_the_same(cuts: list[int], name: str) -> None:
    make = {"claude": Claude, "codex": Codex}[name]
    content = (SAMPLES / f"{name}.jsonl").read_bytes()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "x.jsonl"
        tail, at = TranscriptTail(str(path), make), 0
        for cut in [*sorted(cut for cut in cuts if cut < len(content)), len(content)]:
            with path.open("ab") as file:
                file.write(content[at:cut])
            at = cut
            assert tail.observe() == cut
            once = TranscriptTail(str(path), make)
            once.observe()
            assert (tail.story.words(), tail.story.at) == (once.story.words(), once.story.at)
    assert tail.story.understood == content.count(b"\n")


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["append", "truncate", "rewrite", "replace"]), st.binary(max_size=40)), max_size=8
    )
)
def test_whatever_is_done_to_the_file_the_story_is_that_of_the_file(steps: list[tuple[str, bytes]]) -> None:
    """Garbage lines, files cut to nothing, written over and renamed into place."""
    lines = [PROMPT, CALL, DONE]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "x.jsonl"
        path.write_bytes(PROMPT + CALL)
        tail = TranscriptTail(str(path), Claude)
        tail.observe()
        for number, (step, garbage) in enumerate(steps):
            new = garbage + b"\n" + lines[number % 3]
            if step == "append":
                path.write_bytes(path.read_bytes() + new)
            elif step == "truncate":
                path.write_bytes(b"")
            elif step == "rewrite":
                path.write_bytes(new + DONE * number)
            else:
                other = Path(directory) / "other"
                other.write_bytes(path.read_bytes() + new)
                other.rename(path)
            os.utime(path, (STARTED, STARTED + number))
            tail.observe()
            once = TranscriptTail(str(path), Claude)
            once.observe()
            assert (tail.story.words(), tail.story.at) == (once.story.words(), once.story.at)


def test_a_half_written_line_waits_for_its_rest(home: Home) -> None:
    sense, running = TranscriptFollower(), home.running("claude")
    file = home.write(PATH, PROMPT + CALL[:-20])
    assert words(sense.read(running))["event"] == "prompt"
    with file.open("ab") as more:
        more.write(CALL[-20:])
    assert words(sense.read(running, UUID))["open"] == "Bash"


def test_a_quiet_look_reads_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    sense, running = TranscriptFollower(), home.running("claude")
    file = home.write(PATH, PROMPT)
    first = sense.read(running, UUID)
    opened: list[str] = []

    def watched(path: str) -> int:
        opened.append(path)
        return open_plain(path)

    monkeypatch.setattr(transcript_follower, "open_plain", watched)
    assert sense.read(running, UUID) is first
    assert opened == []
    with file.open("ab") as more:
        more.write(CALL)
    assert words(sense.read(running, UUID))["event"] == "tool-call"
    assert opened == [str(file)]


def test_only_what_is_new_is_read(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    sense, running = TranscriptFollower(), home.running("claude")
    file = home.write(PATH, PROMPT * 50)
    sense.read(running, UUID)
    taken: list[bytes] = []
    monkeypatch.setattr(Claude, "take", lambda _, line: taken.append(line))
    with file.open("ab") as more:
        more.write(CALL)
    sense.read(running, UUID)
    assert taken == [CALL.rstrip(b"\n")]


def test_a_file_that_was_touched_is_not_told_anew(home: Home) -> None:
    sense, running = TranscriptFollower(), home.running("claude")
    file = home.write(PATH, PROMPT)
    first = sense.read(running, UUID)
    os.utime(file, (STARTED + 99, STARTED + 99))
    assert sense.read(running, UUID) is first


def test_a_file_renamed_into_place_is_told_anew(home: Home) -> None:
    sense, running = TranscriptFollower(), home.running("claude")
    same = b'{"type":"mode"}\n' * 100
    home.write(PATH, PROMPT + CALL + same)
    assert words(sense.read(running, UUID))["open"] == "Bash"
    new = home.write("new", PROMPT + CALL.replace(b"Bash", b"Read") + same)
    new.rename(home.top / PATH)
    assert words(sense.read(running, UUID))["open"] == "Read"


def test_sub_agents_make_it_grow(home: Home) -> None:
    sense, running = TranscriptFollower(), home.running("claude")
    home.write(PATH, PROMPT)
    before = int(words(sense.read(running, UUID))["size"])
    home.write(f"{PATH.removesuffix('.jsonl')}/subagents/agent-1.jsonl", b"x" * 70)
    home.write(f"{PATH.removesuffix('.jsonl')}/subagents/agent-1.meta.json", b"x" * 9)
    after = words(sense.read(running, UUID))
    assert int(after["size"]) == before + 70
    assert after["event"] == "prompt"


def test_a_large_file_is_entered_near_its_end(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_follower, "FIRST", 500)
    monkeypatch.setattr(transcript_follower, "LAST", 300)
    meta = {"timestamp": "2026-11-15T20:00:00Z", "type": "session_meta", "payload": {"id": UUID, "cwd": "/p"}}
    filler = {"timestamp": "2026-11-15T20:00:01Z", "type": "world_state", "payload": {"x": "y" * 400}}
    over = {"timestamp": "2026-11-15T20:00:02Z", "type": "event_msg", "payload": {"type": "task_complete"}}
    lines = [json.dumps(line).encode() + b"\n" for line in (meta, *[filler] * 40, over)]
    path = home.write("big.jsonl", b"".join(lines))
    tail = TranscriptTail(str(path), Codex)
    assert tail.observe() == path.stat().st_size
    assert tail.story.words() == {"event": "turn-ended", "open": "", "conversation": UUID, "cwd": "/p"}
    assert tail.story.understood < 5
    with path.open("ab") as more:
        more.write(b'{"type":"event_msg","payload":{"type":"task_started"}}\n')
    tail.observe()
    assert tail.story.event == "prompt"


def test_sums_are_not_told_of_a_file_that_was_not_read_whole(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"type": "assistant", "message": {"id": "m", "content": [], "usage": {"output_tokens": 7}}}
    path = home.write("big.jsonl", (json.dumps(answer) + "\n") * 50)
    tail = TranscriptTail(str(path), Claude)
    tail.observe()
    assert tail.story.words()["tokens"] == "7"
    monkeypatch.setattr(transcript_follower, "FIRST", 500)
    monkeypatch.setattr(transcript_follower, "LAST", 300)
    tail = TranscriptTail(str(path), Claude)
    tail.observe()
    assert "tokens" not in tail.story.words()


def test_what_is_written_while_it_is_read_is_not_lost(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the end of reading and the look at the file's new size."""
    path = home.write("x.jsonl", PROMPT)
    tail, calls = TranscriptTail(str(path), Claude), 0
    fstat = os.fstat

    def late(fd: int) -> os.stat_result:
        nonlocal calls
        calls += 1
        if calls == 3:  # one is asked for by opening
            with path.open("ab") as more:
                more.write(CALL)
        return fstat(fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", late)
        assert tail.observe() == len(PROMPT)
    assert path.stat().st_size > len(PROMPT), "it was written before the last look"
    tail.observe()
    assert tail.story.event == "tool-call"


def test_what_cannot_be_read_is_trouble(home: Home) -> None:
    running = home.running("claude")
    home.write(PATH, b"\x89PNG not a transcript\nat all\n")
    report = TranscriptFollower().read(running, UUID)
    assert report is not None
    assert (report.source, report.words, report.at) == ("transcript", {}, None)
    assert "no line that can be read" in report.trouble
    (home.top / PATH).unlink()
    (home.top / PATH).mkdir()
    report = TranscriptFollower().read(running, UUID)
    assert report is not None
    assert "cannot be read" in report.trouble


def test_an_empty_file_says_that_nothing_has_happened(home: Home) -> None:
    home.write(PATH, b"")
    report = TranscriptFollower().read(home.running("claude"), UUID)
    assert words(report) == {
        "event": "",
        "open": "",
        "conversation": UUID,
        "path": str(home.top / PATH),
        "size": "0",
    }
    assert report is not None
    assert report.at is None


def test_a_transcript_that_goes_away_and_comes_back(home: Home) -> None:
    sense, running = TranscriptFollower(), home.running("claude")
    file = home.write(PATH, PROMPT + CALL)
    assert words(sense.read(running, UUID))["event"] == "tool-call"
    file.unlink()
    assert sense.read(running, UUID) is None
    home.write(PATH, PROMPT)
    assert words(sense.read(running, UUID))["event"] == "prompt"


def test_older_gemini_files_are_read_whole(home: Home) -> None:
    record: dict[str, object] = {
        "sessionId": UUID,
        "projectHash": "0" * 64,
        "messages": [{"id": "1", "timestamp": "2026-11-15T20:00:00Z", "type": "user", "content": "go"}],
    }
    path = home.write("session-x.json", json.dumps(record, indent=2))
    tail = TranscriptTail(str(path), Gemini)
    tail.observe()
    assert tail.story.event == "prompt"
    path.write_text(json.dumps(record, indent=2)[:-30])
    tail.observe()
    assert tail.story.event == "prompt", "half written: what was known still holds"
    messages = [{"id": "2", "timestamp": "2026-11-15T20:00:01Z", "type": "gemini", "content": "Hello."}]
    path.write_text(json.dumps({**record, "messages": messages}, indent=2))
    tail.observe()
    assert tail.story.event == "text"
