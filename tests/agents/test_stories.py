"""Real agents, watched while they live: every look at least 2 s after a true change is right, and nothing flickers."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from midwatch.agents import catalog
from midwatch.replay import golden_runner
from midwatch.replay.rules import timeline_accuracy
from tests.lab.lab import Lab
from tests.lab.timelines import Tape, told
from tests.lab.timelines.claude_stories import OWN
from tests.lab.timelines.record import stories

FIRST = ("claude", "codex", "codex-nodaemon")
DANGERS = ("permission", "interrupted-before-a-word", "killed")
"""Stories in which a wrong word costs people work; played with every agent."""


def cases() -> list[Any]:
    found: list[Any] = []
    for agent in (*FIRST, "opencode", "gemini", "qwen"):
        mark = getattr(pytest.mark, agent.partition("-")[0])
        own = OWN if agent == "claude" else {}
        found += [pytest.param(agent, story, id=f"{agent}-{story}", marks=mark) for story in (*DANGERS, *own)]
    return found


def play(
    lab: Lab, agent: str, story: str, path: Path, *, hooks: bool = False, size: tuple[int, int] = (120, 40)
) -> golden_runner.TimelineReplay:
    spool = lab.root / "spool"
    spool.mkdir(mode=0o700, exist_ok=True)
    found = stories(agent)[story]
    pane = lab.start(agent, size=size, **{**found.start, **(told(agent, spool) if hooks else {})})
    tape = Tape(pane, spool)
    tape.true(time.time(), "idle", "", "driver: the prompt is there and nothing was sent")
    try:
        found.play(pane, tape)
    finally:
        tape.save(path, story)
    return golden_runner.replay_timeline(str(path), catalog.Detectors())


@pytest.mark.parametrize(("agent", "story"), cases(), indirect=["agent"])
def test_every_verdict_is_true(lab: Lab, agent: str, story: str, tmp_path: Path) -> None:
    done = play(lab, agent, story, tmp_path / "t.jsonl")
    looks = list(golden_runner.judge_moments(done))
    assert looks
    assert [look for look in looks if not look.right] == []
    truths = [(truth.at, truth.turn) for truth in done.truths]
    assert timeline_accuracy.find_flickers(truths, golden_runner.turns_over_time(done), 2.0, 1.0) == []


@pytest.mark.qwen
@pytest.mark.parametrize("agent", ["qwen"], indirect=True)
@pytest.mark.parametrize("title", [True, False], ids=["titled", "untitled"])
def test_no_look_is_wrong_while_long_phrases_wrap_in_two_columns(
    lab: Lab, agent: str, tmp_path: Path, *, title: bool
) -> None:
    """In 80 columns; the screen alone must tell, too, because people may turn the title off."""
    path = tmp_path / "t.jsonl"
    done = play(lab, agent, "long-phrases", path, size=(80, 24))
    text = path.read_text()
    assert re.search(r' (?:esc|esc to|·)"', text), "no status row was wrapped"
    if not title:
        path.write_text(text.replace("◐\ufe0e ", ""))
        done = golden_runner.replay_timeline(str(path), catalog.Detectors())
    assert [look for look in golden_runner.judge_moments(done) if not look.right] == []


@pytest.mark.claude
@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_the_hook_tells_of_a_permission_and_of_the_end(lab: Lab, agent: str, tmp_path: Path) -> None:
    done = play(lab, agent, "permission", tmp_path / "t.jsonl", hooks=True)
    rules = {piece.says.rsplit(" ", 1)[-1] for moment in done.moments for piece in moment.verdict.evidence}
    assert {"hook-permission", "hook-stop"} <= rules
    assert [look for look in golden_runner.judge_moments(done) if not look.right] == []
