"""Another user was first in a directory such as /tmp, and left files there that would say how everybody works below."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import users
from tests.conftest import Box

SHORT = '[policy]\ntimeout = "1ms"\n'
ROWS = "sessions:\n- {name: theirs, status: running, agent: claude, pane: {pid: 1, cwd: /}}\n"


@pytest.fixture
def shared(box: Box) -> Iterator[Path]:
    with users.shared_place() as place:
        place.chmod(0o1777)
        (place / "work").mkdir()
        box.cwd = place / "work"
        box.env.pop("MIDWATCH_HOME")
        yield place


def plant(path: Path, text: str) -> None:
    """As that user, who may write there like everybody."""
    script = 'mkdir -p "$(dirname "$1")" && cat > "$1"'
    command = [*users.become(users.ATTACKER), "sh", "-c", script, "sh", str(path)]
    subprocess.run(command, input=text.encode(), check=True)


def test_a_settings_file_of_theirs_ends_no_job_below(box: Box, shared: Path) -> None:
    plant(shared / "midwatch.toml", SHORT)
    assert box("run", "--name", "x", "--", "sleep", "0.2").code == 0


def test_nor_one_in_the_directory_itself(box: Box, shared: Path) -> None:
    plant(shared / "midwatch.toml", SHORT)
    box.cwd = shared
    assert box("run", "--name", "x", "--", "sleep", "0.2").code == 0
    assert f"{shared}/midwatch.toml belongs to another user" in box("doctor").out


def test_their_repository_is_no_project_of_ours(box: Box, shared: Path) -> None:
    plant(shared / ".git" / "HEAD", "ref: refs/heads/main\n")
    assert box("run", "--name", "x", "--", "true").code == 0
    state = Path(box.env["HOME"]) / ".local" / "state" / "midwatch"
    assert [path.name[:5] for path in state.glob("*-*")] == ["work-"]


@pytest.mark.parametrize("place", ["midwatch-sessions.yaml", ".hermes/agent-sessions.yaml"])
def test_their_list_of_sessions_is_not_ours(box: Box, shared: Path, place: str) -> None:
    plant(shared / place, ROWS)
    done = box("session", "status")
    assert "theirs" not in done.out
    assert "there is no " in done.err


BEAD = '{"id":"bd-1","title":"theirs","status":"closed"}\n'
STORY = "development_status:\n  1-1-theirs: done\n"


@pytest.mark.parametrize(
    ("place", "text", "check"),
    [
        (".beads/issues.jsonl", BEAD, "bead:bd-1"), ("_bmad-output/sprint-status.yaml", STORY, "sprint:1.1"),
    ],
)  # fmt: skip
def test_nothing_of_theirs_verifies_our_work(box: Box, shared: Path, place: str, text: str, check: str) -> None:
    plant(shared / place, text)
    done = box("verify", check)
    assert (done.code, "could not be verified: there is no " in done.out) == (6, True), done


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (".beads/issues.jsonl", BEAD.replace("closed", "open")),
        ("midwatch-tasks.jsonl", BEAD.replace("closed", "open")),
        ("_bmad-output/sprint-status.yaml", STORY.replace("done", "review")),
    ],
)  # fmt: skip
def test_their_tasks_are_not_ours(box: Box, shared: Path, place: str, text: str) -> None:
    plant(shared / place, text)
    box.cwd = shared
    done = box("task", "list", "--json")
    assert "theirs" not in done.out
    assert (place == "midwatch-tasks.jsonl") == ("belongs to another user" in done.err), done


@pytest.mark.parametrize("whose", ["file", "directory"])
def test_our_own_file_counts_there_and_theirs_where_only_they_can_write(box: Box, shared: Path, whose: str) -> None:
    if whose == "file":
        (shared / "midwatch.toml").write_text(SHORT)
    else:
        plant(shared / "theirs" / "midwatch.toml", SHORT)
        box.cwd = shared / "theirs"
    assert box("run", "--name", "x", "--", "sleep", "100").code == 124
