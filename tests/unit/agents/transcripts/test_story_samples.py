"""Conversations that real agents wrote, read line by line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from midwatch.agents.claude.transcript import Claude
from midwatch.agents.codex.transcript import Codex
from midwatch.agents.qwen.transcript import Qwen
from midwatch.agents.transcripts.transcript_state import EVENTS, TranscriptState

CLAUDE = """
6 turn-ended
13 prompt | 14 thinking | 15 turn-ended
19 prompt | 20 text | 21 tool-call [Bash] | 22 tool-result | 23 turn-ended
27 prompt | 28 text | 29 tool-call [Write] | 30 tool-result | 31 interrupted
33 prompt | 36 text | 37 tool-call [Bash] | 39 tool-result | 43 turn-ended
47 prompt | 48 turn-failed (server_error)
51 prompt | 53 text | 54 interrupted
56 prompt | 57 turn-failed (rate_limit)
59 prompt | 64 interrupted | 67 prompt | 71 interrupted | 73 prompt | 76 text | 77 interrupted
79 prompt | 80 turn-ended | 81 prompt | 82 turn-ended
86 prompt | 87 text | 88 tool-call [AskUserQuestion] | 89 tool-result | 90 turn-ended
94 prompt | 95 turn-ended
"""
"""6: the end of the first turn stands before its beginning. 31: a person rejected the call. 33: Esc before anything was
answered leaves no line. 57: a failed turn has a duration too. 81: Claude Code itself asks again. 98…: /exit."""

CODEX = """
2 prompt | 9 text | 11 turn-ended
12 prompt | 16 thinking | 18 text | 20 turn-ended
21 prompt | 25 text | 26 tool-call [exec_command] | 28 tool-result | 31 text | 33 turn-ended
34 prompt | 38 text | 39 tool-call [exec_command] | 40 tool-result | 43 interrupted
44 prompt | 49 interrupted
50 prompt | 53 turn-failed (response_too_many_failed_attempts)
54 prompt | 57 turn-failed (response_too_many_failed_attempts)
58 prompt | 61 turn-failed (internal_server_error)
62 prompt | 65 turn-failed (http_connection_failed)
66 turn-failed (rate_limit_exceeded)
67 prompt | 71 turn-failed (usage_limit_exceeded)
72 prompt | 76 interrupted
77 prompt | 81 text | 82 tool-call [exec_command] | 84 tool-result | 87 text | 89 turn-ended
"""

QWEN = """
1 prompt | 4 turn-ended
6 prompt | 9 turn-ended
11 prompt | 14 tool-call [run_shell_command] | 16 tool-result | 18 turn-ended
19 prompt | 21 turn-failed (BadRequestError)
"""

CASES = [(Claude, "claude.jsonl", CLAUDE), (Codex, "codex.jsonl", CODEX), (Qwen, "qwen.jsonl", QWEN)]


@pytest.mark.parametrize(("make", "name", "expected"), CASES, ids=[case[1] for case in CASES])
def test_each_line_says_how_far_it_has_come(
    make: type[TranscriptState],
    name: str,
    expected: str,
    sample: Callable[[str], list[bytes]],
    changes: Callable[[type[TranscriptState], list[bytes]], list[str]],
) -> None:
    wanted = [each.strip() for each in expected.replace("\n", "|").split("|") if each.strip()]
    assert changes(make, sample(name)) == wanted


@pytest.mark.parametrize(("make", "name"), [case[:2] for case in CASES], ids=[case[1] for case in CASES])
def test_every_word_is_one_of_ours(
    make: type[TranscriptState], name: str, sample: Callable[[str], list[bytes]]
) -> None:
    story = make()
    for line in sample(name):
        story.take(line)
        assert story.event in ("", *EVENTS)
        assert (story.at is None) == (story.event == "")
    assert story.passed_over == 0


def test_what_is_known_at_the_end(sample: Callable[[str], list[bytes]], told: Callable[..., TranscriptState]) -> None:
    claude, codex, qwen = (told(make, *sample(name)) for make, name, _ in CASES)
    assert claude.words() == {
        "event": "turn-ended",
        "open": "",
        "conversation": "",
        "tokens": "467",
        "cwd": "/home/developer/proj",
        "version": "2.1.197",
    }
    assert claude.at == pytest.approx(1794773388.966)
    assert codex.words() == {
        "event": "turn-ended",
        "open": "",
        "conversation": "01a1e0d5-e3d0-71c1-a6b2-364982b59228",
        "tokens": "420",
        "cwd": "/home/developer/proj",
        "version": "0.166.0",
    }
    assert codex.at == pytest.approx(1794773703.748)
    assert qwen.words() == {
        "event": "turn-failed",
        "open": "",
        "conversation": "",
        "tokens": "168",
        "error": "BadRequestError",
        "message": "400 fake error 400",
        "status": "400",
        "cwd": "/home/developer/proj",
        "version": "0.15.10",
    }
    assert [story.home for story in (claude, codex, qwen)] == ["/home/developer/proj"] * 3
    assert not any(story.side for story in (claude, codex, qwen))


def test_codex_tells_the_status_of_an_error(
    sample: Callable[[str], list[bytes]], told: Callable[..., TranscriptState]
) -> None:
    words = told(Codex, *sample("codex.jsonl")[:65]).words()
    assert (words["event"], words["error"], words["status"]) == ("turn-failed", "http_connection_failed", "401")
    assert words["message"].startswith("unexpected status 401 Unauthorized")
    assert "until" not in words
