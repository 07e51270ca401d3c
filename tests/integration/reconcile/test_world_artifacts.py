"""Whether an agent still has what it wrote of a conversation; nothing of it is ever touched."""

from __future__ import annotations

import os
import shlex
import sqlite3
import time
import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from midwatch.core.presence import GONE, THERE, UNKNOWN
from midwatch.registry.model import STOPPED
from tests.integration.reconcile.lookout import NAME, Lookout

AGENTS = ("claude", "codex", "gemini", "qwen", "agy", "opencode")
ABSENT = "b03dceae-438c-4405-b9d9-df6e5f8ef6cf"


def artifact(lookout: Lookout, agent: str, conversation: str, **more: Any) -> str:
    return lookout.observe(lookout.row(agent=agent, conversation=conversation, **more)).artifacts[0]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_conversation_is_there_or_it_is_gone(lookout: Lookout, agent: str) -> None:
    talk = lookout.leave(agent, lookout.workspace.root, age=90 * 86400)
    assert artifact(lookout, agent, talk) == THERE
    assert artifact(lookout, agent, ABSENT) == GONE
    assert artifact(lookout, agent, talk, status=STOPPED) == THERE, "whatever the row says of its state"


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_that_never_wrote_anything_has_nothing(lookout: Lookout, agent: str) -> None:
    assert artifact(lookout, agent, ABSENT) == GONE


def test_a_row_without_an_id_is_not_looked_for(lookout: Lookout) -> None:
    assert lookout.observe(lookout.row()).artifacts == {}


@pytest.mark.parametrize("agent", [agent for agent in AGENTS if agent != "opencode"])
def test_what_is_taken_away_is_gone_and_may_come_back(lookout: Lookout, agent: str) -> None:
    talk = lookout.leave(agent, lookout.workspace.root)
    assert artifact(lookout, agent, talk) == THERE
    found = [path for path in lookout.home.rglob(f"*{talk[:8]}*") if path.is_file()]
    assert found
    for path in found:
        path.rename(lookout.home / path.name)
    assert artifact(lookout, agent, talk) == GONE
    for path in found:
        (lookout.home / path.name).rename(path)
    assert artifact(lookout, agent, talk) == THERE


@pytest.mark.parametrize("agent", AGENTS)
def test_what_was_not_there_may_come(lookout: Lookout, agent: str) -> None:
    assert artifact(lookout, agent, ABSENT) == GONE
    lookout.leave(agent, lookout.workspace.root)
    assert artifact(lookout, agent, ABSENT) == GONE
    lookout.leave(agent, lookout.workspace.root, talk=ABSENT)
    assert artifact(lookout, agent, ABSENT) == THERE


def test_a_directory_that_changes_twice_in_one_moment(lookout: Lookout) -> None:
    lookout.leave("claude", lookout.workspace.root)
    (folder,) = lookout.home.glob(".claude/projects/*")
    now = time.time_ns()
    os.utime(folder, ns=(now, now))
    assert artifact(lookout, "claude", ABSENT) == GONE
    lookout.leave("claude", lookout.workspace.root, talk=ABSENT)
    os.utime(folder, ns=(now, now))
    assert artifact(lookout, "claude", ABSENT) == THERE


def test_a_deleted_session_of_opencode_is_gone(lookout: Lookout) -> None:
    talk = lookout.leave("opencode", lookout.workspace.root)
    assert artifact(lookout, "opencode", talk) == THERE
    with closing(sqlite3.connect(lookout.home / ".local/share/opencode/opencode.db")) as database:
        database.execute("DELETE FROM session")
        database.commit()
    assert artifact(lookout, "opencode", talk) == GONE


def test_older_places_count(lookout: Lookout) -> None:
    talk = str(uuid.uuid4())
    lookout.file(f".codex/archived_sessions/rollout-2026-11-15T20-11-16-{talk}.jsonl", "{}\n")
    lookout.file(f".gemini/antigravity-cli/conversations/{talk}.pb", "")
    lookout.file(".local/share/opencode/storage/session/p1/ses_0123456789abcdef.json", {})
    assert artifact(lookout, "codex", talk) == THERE
    assert artifact(lookout, "agy", talk) == THERE
    assert artifact(lookout, "opencode", "ses_0123456789abcdef") == THERE


@pytest.mark.parametrize("talk", ["../../etc/passwd", "a/b", ".", "..", "a\0b"])
def test_what_can_be_no_id_is_never_looked_for(lookout: Lookout, talk: str) -> None:
    assert artifact(lookout, "claude", talk) == UNKNOWN


def test_what_cannot_be_seen_is_unknown(lookout: Lookout, monkeypatch: pytest.MonkeyPatch) -> None:
    assert artifact(lookout, "vim", ABSENT) == UNKNOWN
    assert artifact(lookout, "", ABSENT) == UNKNOWN
    (lookout.home / ".claude").mkdir()
    (lookout.home / ".claude" / "projects").symlink_to("projects")
    assert artifact(lookout, "claude", ABSENT) == UNKNOWN, "a loop of links"
    lookout.file(".local/share/opencode/opencode.db", "no database at all, though it is long enough to be read as one")
    assert artifact(lookout, "opencode", ABSENT) == UNKNOWN
    monkeypatch.setenv("HOME", str(lookout.home / "not-mounted"))
    assert artifact(lookout, "claude", ABSENT) == UNKNOWN


def test_another_conversation_whose_name_begins_alike_is_not_it(lookout: Lookout) -> None:
    talk = lookout.leave("gemini", lookout.workspace.root)
    assert artifact(lookout, "gemini", talk[:-4] + "0000") == UNKNOWN


def test_the_agent_in_the_pane_says_where_its_files_are(lookout: Lookout) -> None:
    """Its variables, not ours; also when it has left its pane to the shell that started it."""
    other = lookout.home / "other"
    lookout.file(f"other/projects/-x/{ABSENT}.jsonl", "{}\n")
    claude = shlex.quote(str(lookout.workspace.agents / "claude"))
    lookout.workspace.tmux.start(f"CLAUDE_CONFIG_DIR={other} exec {claude} 1000", NAME)
    lookout.workspace.tmux.start(f"CLAUDE_CONFIG_DIR={other} exec cat", "left")
    rows = [lookout.row(name, at, conversation=ABSENT) for at, name in enumerate((NAME, "left", "elsewhere"))]
    assert lookout.observe(*rows).artifacts[2] == GONE
    assert [lookout.observe(*rows).artifacts[at] for at in (0, 1)] == [THERE, THERE]


@pytest.mark.parametrize("agent", AGENTS)
def test_nothing_of_an_agent_is_touched(lookout: Lookout, agent: str) -> None:
    talk = lookout.leave(agent, lookout.workspace.root)
    lookout.workspace.session(NAME, "claude")
    before = everything(lookout.home)
    for conversation in (talk, ABSENT, ""):
        lookout.observe(lookout.row(agent=agent, conversation=conversation))
    assert everything(lookout.home) == before


def everything(top: Path) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for folder, _, names in os.walk(top):
        for name in (".", *names):
            now = os.lstat(f"{folder}/{name}")
            found[f"{folder}/{name}"] = (now.st_ino, now.st_size, now.st_mtime_ns, now.st_mode)
    return found
