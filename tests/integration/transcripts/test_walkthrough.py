"""The `files.py` that docs/guides/add-an-agent.md shows finds the conversations of an agent."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import pytest

from midwatch.agents.agent_files import AgentFiles, AmbiguousConversationError
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.transcripts.transcript_state import TranscriptState, text_at
from tests.integration.transcripts.conftest import CWD, Home

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "add-an-agent.md"
ID, OTHER = "11111111-2222-3333-4444-555555555555", "22222222-2222-3333-4444-555555555555"


class Sample(TranscriptState):
    def interpret(self, line: dict[str, object]) -> None:
        self.belongs(text_at(line, "cwd"))


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> AgentFiles:
    transcript = types.ModuleType("midwatch.agents.sample.transcript")
    monkeypatch.setattr(transcript, "Sample", Sample, raising=False)
    monkeypatch.setitem(sys.modules, "midwatch.agents.sample", types.ModuleType("midwatch.agents.sample"))
    monkeypatch.setitem(sys.modules, transcript.__name__, transcript)
    [code] = [part.partition("```")[0] for part in PAGE.read_text().split("```python\n")[1:]]
    found: dict[str, AgentFiles] = {}
    exec(compile(code, str(PAGE), "exec"), found)
    return found["FILES"]


def line(cwd: str) -> str:
    return json.dumps({"cwd": cwd}) + "\n"


def test_the_conversation_that_was_asked_for_is_found(files: AgentFiles, home: Home) -> None:
    found = files.find(home.running("sample", "--resume", ID), "", FileHeadCache())
    assert found == f"{home.top}/.sample/chats/{ID}.jsonl"


def test_the_only_one_of_the_directory_is_found_and_never_guessed_between_two(files: AgentFiles, home: Home) -> None:
    only = home.write(f".sample/chats/{ID}.jsonl", line(CWD))
    home.write(f".sample/chats/{OTHER}.jsonl", line("/elsewhere"))
    assert files.find(home.running("sample"), "", FileHeadCache()) == str(only)
    home.write(f".sample/chats/{OTHER}.jsonl", line(CWD))
    with pytest.raises(AmbiguousConversationError):
        files.find(home.running("sample"), "", FileHeadCache())
