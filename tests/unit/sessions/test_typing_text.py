"""What is pasted, and how it is found again in a box."""

from __future__ import annotations

import re

import pytest

from midwatch.core.errors import UsageError
from midwatch.sessions.prompting.codec import text as sessions_text

CLAUDE = re.compile(r"\[Pasted text #\d+(?: \+(?P<more>\d+) lines)?\]")
GEMINI = re.compile(r"\[Pasted Text: (?:(?P<lines>\d+) lines|(?P<chars>\d+) chars)\]")


@pytest.mark.parametrize(
    ("text", "pasted"),
    [
        ("go on", "go on"),
        ("one\ntwo\n", "one\ntwo"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("a\tb", "a    b"),
        ("\n\n  indented\n\n", "  indented"),
        ("a\x1b[201~b", "ab"),
        ("a\x9b201~b", "ab"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x1b[2\x1b[201~01~b", "a[201~b"),
        ("bell\x07 back\x08 nul\x00 del\x7f next\x85 end", "bell back nul del next end"),
        ("\x1bunder", "under"),
        ("\ufeffbom", "bom"),
        ("half \udcff a letter", "half \ufffd a letter"),
        ("👩\u200d👩\u200d👧 é 日本語", "👩\u200d👩\u200d👧 é 日本語"),
    ],
)
def test_what_is_pasted(text: str, pasted: str) -> None:
    assert sessions_text.clean_prompt(text) == pasted


@pytest.mark.parametrize("text", ["look at @main.py", "in a@b", "use $skill", "a backslash \\"])
def test_where_enter_would_choose_or_break_the_line_a_blank_stands_before_it(text: str) -> None:
    assert sessions_text.clean_prompt(text) == f"{text} "


@pytest.mark.parametrize("text", ["@main.py tells", "costs 5$", "C:\\temp is full", "/compact"])
def test_elsewhere_none_does(text: str) -> None:
    assert sessions_text.clean_prompt(text) == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "nothing to send"),
        (" \n\t\x1b[201~", "nothing to send"),
        ("!ls", "command of the shell"),
        (" \n !ls", "command of the shell"),
        ("\x1b[201~!ls", "command of the shell"),
        ("x" * (sessions_text.LARGEST + 1), "too many to type"),
    ],
)
def test_what_cannot_be_sent(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        sessions_text.clean_prompt(text)


@pytest.mark.parametrize(
    ("box", "text"),
    [
        ("go on", "go on"),
        ("a line that is\nwrapped", "a line that is wrapped"),
        ("one\n\n  two", "one\n\n\n  two"),
        ("what? \u200b", "what?"),
        ("drawn � otherwise 👩 👧", "drawn \u202e otherwise 👩\u200d👧"),
        ("cafe\u0301", "caf\u00e9"),
        ("…", "…"),
        (f"the end of {'a long line ' * 9}", f"the beginning and the end of {'a long line ' * 9}"),
    ],
)
def test_a_text_is_found_again(box: str, text: str) -> None:
    assert sessions_text.is_in_box(box, text, None)


@pytest.mark.parametrize(
    ("box", "text"),
    [
        ("", "go on"),
        ("go", "go on"),
        ("on", "go on"),
        ("go on x", "go on"),
        ("x go on", "go on"),
        ("…", "!?"),
        (f"{'a long line ' * 9}x", "a long line " * 9),
        ("a long line " * 9, f"{'a long line ' * 9} and its end"),
    ],
)
def test_another_text_is_not_taken_for_it(box: str, text: str) -> None:
    assert not sessions_text.is_in_box(box, text, None)


@pytest.mark.parametrize(
    ("box", "text", "folded", "same"),
    [
        ("[Pasted text #3 +2 lines]", "a\nb\nc", CLAUDE, True),
        ("[Pasted text #3 +3 lines]", "a\nb\nc", CLAUDE, False),
        ("[Pasted text #1]", "a long line", CLAUDE, True),
        ("x [Pasted text #3 +2 lines]", "a\nb\nc", CLAUDE, False),
        ("[Pasted text #3 +2\nlines]", "a\nb\nc", CLAUDE, True),
        ("[Pasted Text: 3 lines]", "a\nb\nc", GEMINI, True),
        ("[Pasted Text: 5 chars]", "a b 1", GEMINI, True),
        ("[Pasted Text: 6 chars]", "a b 1", GEMINI, False),
        ("[Pasted Text: 4 chars]", "👍👍", GEMINI, True),
        ("[Pasted Text: 3 lines]", "a\nb\nc", None, False),
    ],
)
def test_a_folded_text_is_known_by_its_size(box: str, text: str, folded: re.Pattern[str] | None, same: bool) -> None:
    assert sessions_text.is_in_box(box, text, folded) is same
    assert sessions_text.is_only_in_box(box, text, folded) is same


def test_ours_is_what_is_left_of_it_too_but_nothing_with_it() -> None:
    assert sessions_text.is_only_in_box("one\ntwo", "one\ntwo\nthree", None)
    assert not sessions_text.is_only_in_box("one\ntwo!", "one\ntwo\nthree", None)
    assert not sessions_text.is_only_in_box("", "one", None)
