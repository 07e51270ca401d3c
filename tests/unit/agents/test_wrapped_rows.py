"""Rows that an agent wrapped are read as one; rows that only stand below each other are not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from midwatch.agents import catalog, definition_file, evidence, wrapped_rows
from midwatch.agents.definition import match_sources, split_regions
from midwatch.replay.codec import screen_case

GOLDENS = Path(__file__).parents[2] / "goldens" / "agents" / "screens"

RULE = "─" * 80
STATUS = (
    "  . Pretty sure there is a cat walking on the keyboard so (1s · ↑ 8 tokens · esc",
    "  .                                                       to cancel)",
)
AGENT = """\
agent = "sample"
title = "Sample"
tested = []

[process]
names = '^sample$'

[[region]]
name = "input"
match = '^─{8,}\\n> [^\\n]*\\n─{8,}$'

[[region]]
name = "past"
above = "input"

[[rule]]
name = "busy"
source = "screen"
turn = "working"
priority = 50
when.past = 'esc to cancel\\)'

[[rule]]
name = "asks"
source = "screen"
turn = "waiting"
priority = 60
when.past = 'Do you want to proceed\\?'
"""


def joined(*rows: str, width: int = 80) -> list[str]:
    lines, starts = wrapped_rows.join_rows(["─" * width, *rows])
    assert len(starts) == len(lines) + 1
    return lines[1:]


def test_a_timer_that_wraps_beside_a_phrase_is_one_row_with_it() -> None:
    assert joined(*STATUS) == [
        "  . Pretty sure there is a cat walking on the keyboard so . (1s · ↑ 8 tokens · esc to cancel)"
    ]


@pytest.mark.parametrize("shift", [-1, 0, 1])
def test_columns_are_rounded_to_cells(shift: int) -> None:
    lower = " " * (58 + shift) + "to cancel)"
    assert joined(STATUS[0], lower)[0].endswith("· esc to cancel)")


def test_a_column_may_take_three_rows() -> None:
    rows = (
        f"  . {'a' * 53} (1m 2s · ↑ 1.2k tokens",
        f"{' ' * 58}· 33 tokens per second",
        f"{' ' * 58}· esc to cancel)",
    )
    assert joined(*rows) == [f"  . {'a' * 53} (1m 2s · ↑ 1.2k tokens · 33 tokens per second · esc to cancel)"]


def test_what_stands_right_of_a_wrapped_column_stays_there() -> None:
    upper = f" ⠏ {'a' * 40} (esc to      ? for shortcuts"
    lower = f"{' ' * 44}cancel, 3s)"
    assert joined(upper, lower, width=72) == [f" ⠏ {'a' * 40} (esc to cancel, 3s)      ? for shortcuts"]


def test_wide_letters_take_two_cells() -> None:
    upper = f"  . {'猫' * 26}  (1s · ↑ 8 tokens · esc"
    assert joined(upper, STATUS[1].replace(".", " ", 1))[0].endswith("esc to cancel)")


@pytest.mark.parametrize(
    ("upper", "lower"),
    [
        ("  name        what it is for", "  other       what that is for"),  # a table: there was room for it
        ("  name        a description that goes on up to the very last column of this here pane", "  other       more"),
        (STATUS[0], " " * 50 + "to cancel)"),  # below the middle of a word
        (STATUS[0], "    to cancel)"),  # an indentation
        ("", " " * 58 + "to cancel)"),
        ("│ text" + " " * 72 + " │", "│ more" + " " * 72 + " │"),  # a frame
        (RULE, ">" + " " * 20 + "text"),
    ],
)
def test_other_rows_stay_apart(upper: str, lower: str) -> None:
    assert joined(upper, lower) == [upper, lower]


def test_rules_and_rows_of_the_cursor_agree_after_rows_were_joined() -> None:
    detector = definition_file.read(AGENT, "sample.toml")
    texts, spans = split_regions(detector, (*STATUS, RULE, "> x", RULE))
    assert spans["past"] == (0, 2)
    assert spans["input"] == (2, 5)
    assert [said.turn for said in match_sources(detector, texts, "")] == ["working"]


@pytest.mark.parametrize("rows", [("Do you want to", "proceed?"), ("│ Do you   │", "│ want to  │", "│ proceed? │")])
def test_a_phrase_is_found_however_it_is_wrapped(rows: tuple[str, ...]) -> None:
    detector = definition_file.read(AGENT, "sample.toml")
    texts, _ = split_regions(detector, (*rows, RULE, "> x", RULE))
    assert [said.turn for said in match_sources(detector, texts, "")] == ["waiting"]


@pytest.mark.parametrize(
    "pattern", [r"^  > \S", r"[a b]", r"a {2,}b", r"a *b", r"\[ x", r"● (?:x)", r"(?: at| in)", r"\n x"]
)
def test_blanks_that_are_places_or_sets_are_left_alone(pattern: str) -> None:
    assert wrapped_rows.match_across_rows(pattern) == pattern


def test_a_blank_between_words_is_a_blank_or_the_end_of_a_row() -> None:
    found = re.compile(wrapped_rows.match_across_rows(r"esc to (?:close|cancel)"))
    assert found.search("esc to cancel")
    assert found.search("esc  │\n│ to\n  close")
    assert not found.search("esc  to cancel")


def test_a_status_row_that_wraps_and_ticks_is_no_progress() -> None:
    """Else a hung turn would seem to go on for ever: in half of the rows nothing says what they are."""
    place = GOLDENS / "qwen" / "0.24.4-phrase-thinking-80x24"
    screen, facts = (place / "screen.txt").read_text(), (place / "facts.json").read_text()
    later = re.sub(r"\(\d+s · ↑ \d+", "(9s · ↑ 7", re.sub(r"(?m)^  \.?( {20,})", r"   \1", screen))
    before, after = (
        evidence.build_facts(
            catalog.load("qwen"), screen_case.read_observation("qwen", shown, facts, "facts.json"), "x"
        )
        for shown in (screen, later)
    )
    assert before.life["screen"] != after.life["screen"]
    assert before.progress["text"] == after.progress["text"]


def test_signs_that_only_choose_a_font_are_not_there() -> None:
    texts, _ = split_regions(definition_file.read(AGENT, "sample.toml"), ("◆\ufe0e done",))
    assert texts["screen"] == "◆ done"
