"""What the screens of Qwen Code say besides the turn: words of an error, a prompt that Esc put back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from midwatch.agents import catalog, evidence
from midwatch.agents.rules import fuse_sources
from midwatch.core.pane_model import Observation, SourceReport
from midwatch.replay.codec import screen_case

SCREENS = Path(__file__).parents[2] / "goldens" / "agents" / "screens" / "qwen"
QWEN = catalog.load("qwen")
NEW = sorted(place.name for place in SCREENS.glob("0.24.4-*"))


def seen(name: str, **changed: str) -> Observation:
    facts = json.loads((SCREENS / name / "facts.json").read_text()) | changed
    return screen_case.read_observation(
        "qwen", (SCREENS / name / "screen.txt").read_text(), json.dumps(facts), "facts.json"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("failed-401", "[API Error: 401 fake error 401]"),
        ("0.24.4-failed-400-80x24", "[API Error: 400 fake error 400]"),
        (
            "0.24.4-failed-cut-80x24",
            "[API Error: terminated (cause: Response does not match the HTTP/1.1 protocol (Invalid EOF state))]",
        ),
    ],
)
def test_the_words_of_an_error_are_read_in_full_and_without_the_hint(name: str, text: str) -> None:
    assert [said.text.raw for said in evidence.read_sources(QWEN, seen(name))[0] if said.detail == "turn-failed"] == [
        text
    ]


@pytest.mark.parametrize("name", NEW)
def test_the_screen_alone_tells_what_its_title_tells(name: str) -> None:
    """People may turn the title off, and older releases have none."""
    expected = json.loads((SCREENS / name / "expected.json").read_text())
    said, there = evidence.read_sources(QWEN, seen(name, pane_title="Qwen - proj"))
    assert fuse_sources(said, there).turn == expected["turn"]


def test_a_prompt_that_was_sent_and_is_back_in_the_box_was_interrupted() -> None:
    """The screen shows the turn before, which ended well; that is not the end of this one."""
    shown = seen("0.24.4-taken-back-80x24")
    assert [(said.turn, said.detail) for said in evidence.read_sources(QWEN, shown)[0]] == [("idle", "")]
    sent = SourceReport("transcript", 1.0, {"event": "prompt"})
    said, _ = evidence.read_sources(QWEN, shown._replace(reports=(sent,)))
    assert [(each.turn, each.detail) for each in said if each.source == "screen"] == [("idle", "interrupted")]
