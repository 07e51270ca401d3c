"""The parts of an agent's folder."""

from __future__ import annotations

import subprocess
import sys

import pytest

from midwatch.agents import parts


@pytest.mark.parametrize("agent", ["", "vim", "hooks", "rules", "a.b", "../claude", "claude.transcript", "my-agent"])
def test_an_agent_without_a_folder_has_no_files(agent: str) -> None:
    assert parts.files(agent) is parts.NO_FILES
    assert parts.database(agent) is None
    assert parts.service(agent) is None


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "qwen", "agy", "opencode"])
def test_an_agent_with_a_folder_has_files(agent: str) -> None:
    assert parts.files(agent) is parts.files(agent)
    assert parts.files(agent) is not parts.NO_FILES
    assert bool(parts.files(agent).story) or parts.files(agent).shared_database


def test_only_the_parts_that_are_asked_for_are_loaded() -> None:
    asked = "parts.files('claude'), parts.service('claude'), parts.database('claude')"
    code = f"import sys; from midwatch.agents import parts; {asked}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "midwatch.agents.claude.files" in loaded
    assert not [name for name in loaded if name.startswith(("midwatch.agents.codex", "midwatch.agents.opencode"))]
    assert "sqlite3" not in loaded


def test_an_error_within_a_part_is_not_taken_for_its_absence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "midwatch.agents.codex.daemon", None)
    monkeypatch.delitem(sys.modules, "midwatch.agents.codex.service", raising=False)
    with pytest.raises(ModuleNotFoundError, match="daemon"):
        parts._module("codex", "service")


@pytest.mark.parametrize(
    ("name", "marks"),
    [
        ("CLAUDECODE", True),
        ("CLAUDE_CODE_ENTRYPOINT", True),
        ("CLAUDE_CODE_OAUTH_TOKEN", False),
        ("CLAUDE_CODE_USE_BEDROCK", False),
        ("ANTHROPIC_API_KEY", False),
        ("CLAUDE_CONFIG_DIR", False),
        ("PATH", False),
    ],
)
def test_variables_that_mark_what_an_agent_starts(name: str, marks: bool) -> None:
    assert any(each.fullmatch(name) for each in parts.caller_variables()) == marks
