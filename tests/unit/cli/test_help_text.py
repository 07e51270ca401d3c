"""Help fits on a screen, and says all that the table says."""

from __future__ import annotations

import shlex

import pytest

from midwatch.cli.command_table import ALIASES, GROUPS, VERBS
from midwatch.cli.help_text import fill_paragraphs, usage, verb_usage

VISIBLE = [verb for verb in VERBS if not verb.startswith("_")]


@pytest.mark.parametrize("verb", VISIBLE)
def test_every_verb_has_help_with_an_example(verb: str) -> None:
    text = verb_usage(verb)
    assert text.startswith(f"usage: midwatch {verb}")
    assert "Example" in text
    assert f"  {verb} " in usage()


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("verb", ["", *VISIBLE])
def test_help_fits_into_the_screen(verb: str, width: int) -> None:
    lines = (verb_usage(verb, width) if verb else usage(width)).splitlines()
    assert [line for line in lines if len(line) > width] == []


def test_each_verb_has_one_line_of_the_overview_in_80_columns() -> None:
    rows = [line for line in usage().splitlines() if line.startswith("  ") and line.split()[0] in VISIBLE]
    assert [row.split()[0] for row in rows] == VISIBLE


def test_the_overview_has_each_group_with_its_verbs() -> None:
    titles = [title for title, verbs in GROUPS]
    assert [line[:-1] for line in usage().splitlines() if line[:-1] in titles] == titles
    assert titles[:3] == ["Jobs", "Agents", "Teams of agents"]
    assert sum(len(verbs) for _, verbs in GROUPS) == len(VERBS), "a verb stands in two groups"


@pytest.mark.parametrize("verb", VISIBLE)
def test_an_example_on_several_lines_is_the_same_command(verb: str) -> None:
    examples: tuple[str, ...] = VERBS[verb]["examples"]  # type: ignore[assignment]
    shown = verb_usage(verb).rpartition("Example")[2].partition("\n")[2].replace("\\\n", "")
    assert [shlex.split(line) for line in shown.splitlines()] == [shlex.split(example) for example in examples]


def test_every_alias_stands_for_a_verb_and_is_in_the_help() -> None:
    for alias, (verb, *options) in ALIASES.items():
        assert alias not in VERBS
        assert {option for option, _, _ in VERBS[verb]["options"]} >= set(options)  # type: ignore[attr-defined]
        assert f"`{alias}`" in verb_usage(verb)
        assert f"{alias} = {' '.join([verb, *options])}" in " ".join(usage().split())


def test_paragraphs_are_filled_and_stay_apart() -> None:
    assert fill_paragraphs("one two\nthree four\n\nfive", 13) == ["one two three", "four", "", "five"]
