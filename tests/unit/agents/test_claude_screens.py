"""What else screens of Claude Code tell than the turn: the end of a limit, its menu, an error, whose box it is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from midwatch.agents import catalog
from midwatch.agents.rules import Turn
from midwatch.replay import golden_runner
from midwatch.sessions.prompting import input_box
from midwatch.sessions.prompting.model import UNSEEN

GOLDENS = Path(__file__).parents[2] / "goldens" / "agents"
SCREENS = GOLDENS / "screens" / "claude"
CLAUDE = catalog.load("claude")
MENU = "Stop and wait for limit to reset"


def read(case: Path) -> Turn:
    facts = case / "facts.json"
    return golden_runner.classify(CLAUDE, (case / "screen.ansi.txt").read_text(), facts.read_text(), str(facts))


def limited() -> list[Path]:
    return [
        path.parent
        for path in sorted(SCREENS.glob("*/expected.json"))
        if json.loads(path.read_text())["turn"] == "limited"
    ]


def test_the_menu_that_comes_with_a_limit_is_told_from_a_limit_without_one() -> None:
    open_ = {case.name for case in limited() if MENU in (case / "screen.txt").read_text()}
    assert len(open_) > 3
    assert {case.name for case in limited() if read(case).rule == "limit-menu"} == open_


@pytest.mark.parametrize("case", limited(), ids=lambda case: case.name)
def test_every_limit_of_the_plan_says_when_it_ends(case: Path) -> None:
    assert re.search(r"\d(?::\d\d)?[ap]m", read(case).until.raw)


def test_a_limit_after_which_it_goes_on_by_itself_is_known_below_the_box() -> None:
    assert read(SCREENS / "2.1.325-s80x24-limit-goes-on").rule == "limit-continues"
    assert read(SCREENS / "2.1.325-s80x24-limit-goes-on-cancelled").rule == "limit"


def test_an_error_is_told_in_its_own_words_however_they_are_wrapped() -> None:
    (rule,) = [rule for rule in CLAUDE.rules if rule.name == "failed"]
    (pattern,) = [wanted.pattern for _, wanted in rule.when if "text" in wanted.pattern.groupindex]
    found = pattern.search("● API Error: 400 messages.1: text content blocks must\n  be non-empty\n\n      hint")
    assert found is not None
    assert " ".join(found["text"].split()) == "API Error: 400 messages.1: text content blocks must be non-empty"
    assert pattern.search("● I saw API Error: 400") is None


def test_nobody_types_into_the_talk_of_a_sub_agent() -> None:
    case = GOLDENS / "undecidable" / "claude" / "2.1.325-s80x24-agents-talk"
    rows = tuple((case / "screen.ansi.txt").read_text().rstrip("\n").split("\n"))
    assert input_box.read_input_box(CLAUDE, rows).state == UNSEEN
