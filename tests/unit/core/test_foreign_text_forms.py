"""Foreign text comes out in the form that was chosen, and in none of them as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.core.errors import MidwatchError, RefusedError
from midwatch.core.foreign_text import QUOTED, ForeignText, escape_text, is_plain
from midwatch.core.prompt_text import make_prompt_safe

texts = st.text(st.characters(codec=None, categories=None))


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("plain, ümläut 日本 👍", "plain, ümläut 日本 👍"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x1b]52;c;eA==\x07", "\\e]52;c;eA==\\x07"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("a\u200bb\u2028c\u0085d", "a\\u200bb\\u2028c\\x85d"),
        ("tag \U000e0041", "tag \\U000e0041"),
        ("selector \ufe00 \U000e0101", "selector \\ufe00 \\U000e0101"),
        ("filler \u3164\u115f", "filler \\u3164\\u115f"),
        ("\x9b31m\x7f", "\\x9b31m\\x7f"),
        ("byte \udcff", "byte \\udcff"),
        ("⚠️ and ❤️", "⚠️ and ❤️"),
        ("a\ufe0f\ufe0f", "a\\ufe0f\\ufe0f"),
        ("⚠\ufe0f\ufe0f", "⚠\ufe0f\\ufe0f"),
    ],
)
def test_a_line_shows_what_cannot_be_seen(raw: str, line: str) -> None:
    assert ForeignText(raw).line() == line


@given(texts)
def test_whatever_it_is_a_line_is_one_line_of_what_can_be_seen(raw: str) -> None:
    line = ForeignText(raw).line()
    assert line.isprintable()
    assert len(line.splitlines()) <= 1
    assert escape_text(line) == line


@given(texts, st.integers(1, 80))
def test_a_line_may_be_cut(raw: str, longest: int) -> None:
    assert len(ForeignText(raw).line(longest)) <= longest


@given(texts)
def test_each_line_of_a_block_is_marked(raw: str) -> None:
    block = ForeignText(raw).block()
    assert all(line.startswith(QUOTED) for line in block.splitlines())
    assert all(part.isprintable() for line in block.split("\n") for part in line.split("\t"))


def test_a_block_keeps_lines_and_tabs() -> None:
    assert ForeignText("one\r\n\ttwo\n\nend\n").block() == "  | one\n  | \ttwo\n  | \n  | end"


@given(texts)
def test_a_prompt_is_one_line_without_marks(raw: str) -> None:
    prompt = make_prompt_safe(raw)
    assert is_plain(prompt)
    assert "<<<" not in prompt


@pytest.mark.parametrize("form", [str, lambda text: f"{text}", lambda text: f"{text:>3}", "{}".format, "%s".__mod__])
def test_who_forgets_to_choose_gets_a_line(form: object) -> None:
    assert form(ForeignText("a\nb\x1b[2J")) == "a\\nb\\e[2J"  # type: ignore[operator]


@given(texts)
def test_who_prints_what_holds_it_gets_ascii(raw: str) -> None:
    assert repr([ForeignText(raw)]).isascii()
    assert repr([ForeignText(raw)]).isprintable()


def test_it_is_no_text() -> None:
    assert not isinstance(ForeignText("x"), str)
    assert ForeignText("x") != "x"  # type: ignore[comparison-overlap]  # which is what is said here
    assert ForeignText("x") == ForeignText("x")
    assert len({ForeignText("x"), ForeignText("x"), ForeignText("y")}) == 2
    assert bool(ForeignText(" "))
    assert not ForeignText("")


@given(texts)
def test_what_an_error_says_is_one_line(raw: str) -> None:
    assert is_plain(str(RefusedError(f"cannot read {raw}")))
    assert issubclass(RefusedError, MidwatchError)
