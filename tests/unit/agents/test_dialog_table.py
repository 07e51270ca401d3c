"""The tables `[[dialog]]` of an agent's file."""

from __future__ import annotations

import pytest

from midwatch.agents import definition_file
from midwatch.core.errors import FormatError

BEGIN = """agent = "sample"
title = "Sample"

[process]
names = "^sample$"

[[region]]
name = "list"
match = '^[> ] .*$'

[[dialog]]
"""
CHOICE = "choice = '^(?P<mark>>)? (?P<label>.*)'"


def test_it_is_read_and_keys_are_the_usual_ones_unless_told() -> None:
    (dialog,) = definition_file.read(f"{BEGIN}in = 'list'\n{CHOICE}\n", "sample.toml").dialogs
    assert (dialog.region, dialog.marked_by, dialog.move, dialog.take) == ("list", "sign", ("Up", "Down"), "Enter")
    assert (dialog.words, dialog.several, dialog.typed) == (None, None, False)
    more = "marked_by = 'background'\nmove = ['Left', 'Right']\ntake = 'y'\nwords = '^Other'\ntyped = true\n"
    (other,) = definition_file.read(f"{BEGIN}in = 'list'\nchoice = '(?P<label>.*)'\n{more}", "sample.toml").dialogs
    assert (other.marked_by, other.move, other.take, other.typed) == ("background", ("Left", "Right"), "y", True)
    assert other.words is not None
    assert other.words.pattern.search("Other")


def test_without_it_no_choices_are_known() -> None:
    assert definition_file.read(BEGIN.removesuffix("[[dialog]]\n"), "sample.toml").dialogs == ()


@pytest.mark.parametrize(
    ("rest", "line", "says"),
    [
        (CHOICE, 11, "in is missing"),
        (f"in = 'lost'\n{CHOICE}", 12, "there is no region 'lost'"),
        ("in = 'list'\nchoice = '('", 13, "not a regular expression"),
        ("in = 'list'\nchoice = '(?P<mark>.)'", 13, "needs the group .*label"),
        ("in = 'list'\nchoice = '(?P<label>.)'", 13, "needs the group .*mark"),
        (f"in = 'list'\n{CHOICE}\nmove = ['Up']", 14, "move names two keys"),
        (f"in = 'list'\n{CHOICE}\ntake = 'Enter ; kill-server'", 11, "is no key"),
        (f"in = 'list'\n{CHOICE}\nmarked_by = 'smell'", 14, "is none of sign, background"),
        (f"in = 'list'\n{CHOICE}\nkeys = 1", 14, "unknown key 'keys'"),
    ],
)
def test_a_mistake_is_an_error_with_its_line(rest: str, line: int, says: str) -> None:
    with pytest.raises(FormatError, match=f"sample.toml:{line}: .*{says}"):
        definition_file.read(BEGIN + rest + "\n", "sample.toml")
