"""What `make newest` plays, says and returns, with goldens in place of what it would record."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from midwatch.replay import golden_runner
from tests.accuracy import newest, report
from tests.accuracy.newest import Task
from tests.lab import installs
from tests.lab.scenes.play import scenes
from tests.lab.timelines.record import stories

SCREEN = report.GOLDENS / "screens" / "gemini" / "ended-after-tool-80x24"
TIMELINE = report.GOLDENS / "timelines" / "gemini-answer.jsonl"


class World:
    """Where releases come from and what playing them records; nothing is installed, no agent is started."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.label: dict[str, str] = {}
        self.missing: list[str] = []
        self.broken: list[str] = []
        self.played: list[Task] = []

    def install(self, agents: list[str]) -> tuple[dict[str, str], dict[str, str]]:
        got = {agent: "9.9.9" for agent in agents if agent not in self.missing}
        return got, {agent: f"agents: npm could not install {agent}\nE404" for agent in self.missing}

    def play_all(self, wanted: list[Task], out: Path, jobs: int) -> dict[Task, str]:
        self.played += wanted
        if all(task.story for task in wanted):
            assert jobs == 2
            (out / "timelines").mkdir()
            shutil.copy(TIMELINE, out / "timelines")
            return {}
        case = out / "screens" / "gemini" / "one"
        shutil.copytree(SCREEN, case)
        shutil.copytree(SCREEN, out / "undecidable" / "gemini" / "two")
        (out / "undecidable" / "gemini" / "two" / "expected.json").write_text('{"agent": "gemini", "turn": "working"}')
        expected = json.loads((case / "expected.json").read_text())
        (case / "expected.json").write_text(json.dumps(expected | self.label))
        return {task: "waited 90 s for the prompt" for task in wanted if task.name in self.broken}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    found = World(tmp_path)
    monkeypatch.setenv("MIDWATCH_AGENTS", str(tmp_path / "agents"))
    monkeypatch.setattr(newest, "install", found.install)
    monkeypatch.setattr(newest, "play_all", found.play_all)
    return found


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["newest", "--jobs", "4", *arguments])
    return newest.main()


def test_all_scenes_and_all_stories_are_played() -> None:
    found = newest.tasks("codex", "1.2.3")
    assert {task.agent for task in found} == {"codex", "codex-nodaemon"}
    assert {task.version for task in found} == {"1.2.3"}
    for name in ("codex", "codex-nodaemon"):
        own = [task for task in found if task.agent == name]
        assert [task.name for task in own if not task.story] == [scene.name for scene in scenes(name)]
        assert {task.name for task in own if task.story} == {*stories(name)}
    assert len({*found}) == len(found)


def test_all_right_is_said_and_returned(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "gemini") == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == "newest: gemini 9.9.9 right"
    assert "| gemini | 0.61.0 | 1 | 100 % | 1 |" in out
    assert "  not decided by the pane, not counted: gemini/two: working read as idle" in out
    assert "recorded in" in err
    assert {task.agent for task in world.played} == {"gemini"}


def test_a_wrong_verdict_is_told_by_agent_and_fails(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world.label = {"turn": "waiting"}
    assert run(monkeypatch, "gemini") == 1
    out = capsys.readouterr().out
    assert "  wrong: gemini/one: waiting read as idle by " in out
    assert out.splitlines()[-1] == "newest: gemini 9.9.9 1 wrong, 0 not played"


def test_another_detail_is_told_and_is_no_failure(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world.label = {"detail": "background-work"}
    assert run(monkeypatch, "gemini") == 0
    out = capsys.readouterr().out
    assert "  detail, not counted: gemini/one: idle (background-work) read as idle (turn-ended)" in out
    assert out.splitlines()[-1] == "newest: gemini 9.9.9 right"


def test_a_scene_that_cannot_be_played_fails(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world.broken = ["menus"]
    assert run(monkeypatch, "gemini") == 1
    out = capsys.readouterr().out
    assert "  not played: gemini scene menus: waited 90 s for the prompt" in out
    assert out.splitlines()[-1] == "newest: gemini 9.9.9 0 wrong, 1 not played"


def test_an_agent_that_cannot_be_installed_fails_and_the_others_are_tried(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world.missing = ["qwen"]
    assert run(monkeypatch, "gemini", "qwen") == 1
    out = capsys.readouterr().out
    assert "  not installed: agents: npm could not install qwen" in out
    assert out.splitlines()[-1] == "newest: gemini 9.9.9 right; qwen could not be tried"


def test_what_was_recorded_before_does_not_count(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the cache directory; a directory that was named is left alone."""
    old = installs.root().parent / "newest" / "screens" / "old"
    old.mkdir(parents=True)
    assert run(monkeypatch, "gemini") == 0
    assert not old.exists()
    kept = world.root / "mine"
    assert run(monkeypatch, "gemini", "--out", str(kept)) == 0
    assert golden_runner.find_case_folders(str(kept / "screens")) == [str(kept / "screens" / "gemini" / "one")]


def test_what_keeps_a_task_from_being_played_comes_back_as_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not every exception gets from one process to another whole."""

    def record(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired(cmd=["tmux"], timeout=30)

    monkeypatch.setattr(newest, "record", record)
    problem, trace = newest.perform(Task("gemini", "9.9.9", "answer", story=True), tmp_path)
    assert problem == "Command '['tmux']' timed out after 30 seconds"
    assert trace.startswith("Traceback")
