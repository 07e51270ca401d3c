"""What stands in the box of each agent, on every golden screen."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from midwatch.agents import catalog
from midwatch.agents.definition import Detector
from midwatch.sessions.prompting import input_box
from midwatch.sessions.prompting.model import DRAFT, EMPTY, UNSEEN, InputBox
from midwatch.tmux.codec import sgr

SCREENS = Path(__file__).parents[2] / "goldens" / "agents" / "screens"
TYPED = {
    "claude": (
        "hard-slash-menu", "interrupted", "s46x14-retrying-interrupted", "s60x15-background-after-esc",
        "s80x24-file-list", "untitled-interrupted-before-output", "s80x24-rest-list", "s140x44-rest-list",
        "s80x24-unsent-after-good", "s80x24-unsent-after-failed", "s140x44-unsent-after-good",
        "s140x44-unsent-after-failed",
        "s80x24-esc-in-thought", "s80x24-queued-taken-back",
    ),
    "codex": (
        "list-files", "list-slash", "list-slash-busy", "previous-list-help", "stream-scrolled-interrupted",
        "untitled-stream-scrolled-interrupted", "unknown-command",
    ),
    "opencode": ("slash-list-fresh-80x24", "tool-slash-list", "undone-120x80"),
    "gemini": ("slash-list",),
    "qwen": (
        "slash-list-100x30", "0.24.4-interrupted-46x14", "interrupted-stream-80x24", "taken-back-80x24",
        "taken-back-thinking-80x24",
    ),
}  # fmt: skip
"""Screens on which something stands in the box, besides those that are called drafts; of any version, if need be."""
HIDDEN = {
    "claude": (
        "hard-history-search", "s80x24-history-search", "s60x15-busy-long-draft", "s80x24-transcript",
    ),
    "codex": ("previous-list-slash", "previous-list-slash-busy"), "opencode": (),
    "gemini": ("history-search", "console", "previous-console"),
    "qwen": ("0.24.4-history-search-80x24", "0.24.4-history-search-100x30", "0.24.4-history-search-140x40"),
}  # fmt: skip
"""The same where what is typed goes elsewhere, or cannot be read."""
DRAFTS = {
    "claude/interrupted": "think again [[slow 20]]",
    "claude/s100x30-limit-draft": "a draft for later",
    "codex/ended-draft-pasted": "[Pasted Content 2181 chars]",
    "codex/stream-scrolled-draft": "and then?",
    "opencode/draft-pasted-fresh": "[Pasted ~5 lines]",
    "opencode/tool-queued-draft": "a draft that says esc twice\nand has a second line",
    "opencode/slash-list-fresh-80x24": "/",
    "gemini/draft-pasted-120x80": "[Pasted Text: 10 lines]",
    "gemini/draft-like-limit-60x15": "Usage limit reached for gemini-2.5-flash. (esc to\ncancel, 4s)",
    "qwen/slash-list-100x30": "/ \u200b",
}
FIRST = {agent: catalog.load(agent) for agent in TYPED}


def screens() -> list[Any]:
    found = sorted(SCREENS.glob("*/*/screen.ansi.txt"))
    return [pytest.param(path.parent, id=f"{path.parent.parent.name}/{path.parent.name}") for path in found]


def detector(case: Path) -> Detector:
    return FIRST[case.parent.name.partition("-")[0]]


def rows(case: Path) -> tuple[str, ...]:
    return tuple((case / "screen.ansi.txt").read_text().rstrip("\n").split("\n"))


@pytest.mark.parametrize("case", screens())
def test_at_rest_the_box_is_empty_unless_something_was_typed(case: Path) -> None:
    turn = json.loads((case / "expected.json").read_text())["turn"]
    found, agent = input_box.read_input_box(detector(case), rows(case)).state, detector(case).agent
    names = {case.name, re.sub(r"^(?:previous|\d+(?:\.\d+)+)-", "", case.name)}
    older = {case.name, case.name.removeprefix("previous-")}  # newer releases show more of what they have
    if case.name in HIDDEN[agent] or (agent == "claude" and older & {*HIDDEN[agent]}):
        assert found == UNSEEN
    elif names & {*TYPED[agent]} or "draft" in case.name:
        assert found == DRAFT
    elif turn == "idle":
        assert found == EMPTY
    elif turn == "waiting" and agent in ("claude", "codex"):
        assert found != EMPTY, "a dialog stands in the place of the box"


@pytest.mark.parametrize(("case", "text"), DRAFTS.items())
def test_a_draft_is_read_without_its_frame(case: str, text: str) -> None:
    assert input_box.read_input_box(detector(SCREENS / case), rows(SCREENS / case)) == InputBox(DRAFT, text)


def test_words_in_the_box_that_are_dim_are_the_agents_own() -> None:
    line = "\x1b[38;5;244m" + "─" * 40 + "\x1b[39m"
    suggested = '❯ \x1b[7mT\x1b[0;2mry "fix the tests"\x1b[0m'  # noqa: RUF001
    typed = "❯ Try \x1b[2mit\x1b[0m"  # noqa: RUF001
    first = "❯ \x1b[7mT\x1b[27mry it"  # noqa: RUF001
    footer = "  ? for shortcuts"
    claude = FIRST["claude"]
    assert input_box.read_input_box(claude, (line, suggested, line, footer)).state == EMPTY
    assert input_box.read_input_box(claude, (line, typed, line, footer)) == InputBox(DRAFT, "Try")
    assert input_box.read_input_box(claude, (line, first, line, footer)) == InputBox(DRAFT, "Try it")


def test_where_nobody_has_looked_at_a_box_there_is_none() -> None:
    assert input_box.read_input_box(
        FIRST["claude"]._replace(typing=None), rows(SCREENS / "claude" / "idle-fresh")
    ) == InputBox(UNSEEN)


def test_what_is_dim_is_blank_and_all_else_stays() -> None:
    given = ("a\x1b[2mb\x1b[22mc", "\x1b[38;5;2mgreen\x1b[2m dim", "still \x1b[0mback", "")
    assert sgr.blank_dim_text(given) == ("a c", "green    ", "      back", "")
