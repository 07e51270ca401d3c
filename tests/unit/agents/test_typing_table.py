"""The table `[typing]` of an agent's file."""

from __future__ import annotations

import pytest

from midwatch.agents import definition_file
from midwatch.core.errors import FormatError

BEGIN = """agent = "sample"
title = "Sample"

[process]
names = "^sample$"

[[region]]
name = "box"
match = '^> .*$'

[typing]
"""


def test_it_is_read_and_keys_are_the_usual_ones_unless_told() -> None:
    text = BEGIN + "box = 'box'\nempty = '^> *$'\nframe = '^> '\nfolded = 'F(?P<lines>\\d+)'\nnot.title = 'search'\n"
    typing = definition_file.read(text, "sample.toml").typing
    assert typing is not None
    assert (typing.box, typing.submit, typing.clear) == ("box", "Enter", ("C-u", "BSpace"))
    assert typing.empty.search("> ")
    assert [name for name, _ in typing.unless] == ["title"]
    other = definition_file.read(text + "submit = 'C-s'\nclear = ['C-k']\n", "sample.toml").typing
    assert other is not None
    assert (other.submit, other.clear) == ("C-s", ("C-k",))


def test_without_it_nobody_types() -> None:
    assert definition_file.read(BEGIN.removesuffix("[typing]\n"), "sample.toml").typing is None


@pytest.mark.parametrize(
    ("rest", "line", "says"),
    [
        ("empty = '^$'\nframe = ''", 11, "box is missing"),
        ("box = 'bax'\nempty = '^$'\nframe = ''", 12, "there is no region 'bax'"),
        ("box = 'box'\nempty = '('\nframe = ''", 13, "not a regular expression"),
        ("box = 'box'\nempty = ''\nframe = ''\nclear = ['C-u ; kill-server']", 11, "is no key"),
        ("box = 'box'\nempty = ''\nframe = ''\nsubmit = '-X'", 11, "is no key"),
        ("box = 'box'\nempty = ''\nframe = ''\nkeys = 1", 15, "unknown key 'keys'"),
    ],
)
def test_a_mistake_is_an_error_with_its_line(rest: str, line: int, says: str) -> None:
    with pytest.raises(FormatError, match=f"sample.toml:{line}: .*{says}"):
        definition_file.read(BEGIN + rest + "\n", "sample.toml")
