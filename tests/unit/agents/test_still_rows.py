"""What moves on a screen although the work does not."""

from __future__ import annotations

import pytest

from midwatch.agents import evidence
from midwatch.agents.catalog import Detectors
from midwatch.core.pane_model import Observation, Pane

PANE = Pane((), "%0", "s", 1, "", "claude", "/", 80, 24, 0, 0, True, False, False, "", 0)


def text_of(*rows: str) -> str:
    return evidence.build_facts(Detectors()["claude"], Observation("claude", PANE, rows, ()), "%0").progress["text"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("● Running a test command", "  Running a test command"),
        (" ▐▛███▛█   Claude Code v2.1.325", "▗▟▛███▛█▄  Claude Code v2.1.325"),
    ],
    ids=["a bullet that blinks", "a banner that moves"],
)
def test_what_only_moves_is_no_progress(one: str, other: str) -> None:
    assert text_of(one, "● Fine.") == text_of(other, "● Fine.")


def test_new_words_are_progress() -> None:
    assert text_of("● Fine.") != text_of("● Fine.", "● Another thing.")
