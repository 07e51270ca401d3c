"""What completion offers as panes: ids only, whatever the programs in them call themselves."""

from __future__ import annotations

import pytest

from midwatch.cli.commands.complete import parse_pane_words


def test_each_pane_is_offered_with_what_it_is() -> None:
    assert parse_pane_words(b"%0\twork:0 cat\n%12\twork:1 a\tb\n") == [("%0", "work:0 cat"), ("%12", "work:1 a\tb")]


@pytest.mark.parametrize(
    "name", ["x\n%0;id\tforged", "x\n%$(id)\tforged", "x\n$(id)\t", "x\u2028%9;id\tforged", "x\r%9;id\ty"]
)
def test_a_program_with_a_name_of_several_lines_adds_no_word(name: str) -> None:
    found = parse_pane_words(f"%0\twork:0 {name}\n%1\twork:1 cat\n".encode())
    assert [pane for pane, _ in found] == ["%0", "%1"]
