"""Whatever is given, nothing but words is pasted."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from midwatch.core.errors import UsageError
from midwatch.sessions.prompting.codec import text as sessions_text

PIECES = st.sampled_from(
    ["\x1b[201~", "\x1b", "[201~", "\x9b", "201~", "\x1b]", "\x07", "\r", "\n", "\t", "a", " ", "!"]
)
TEXTS = st.one_of(st.text(st.characters()), st.lists(PIECES, max_size=12).map("".join))


@given(TEXTS)
def test_no_control_character_is_left_and_it_can_be_encoded(text: str) -> None:
    try:
        pasted = sessions_text.clean_prompt(text)
    except UsageError:
        return
    assert {c for c in pasted if unicodedata.category(c) == "Cc"} <= {"\n"}
    assert pasted.encode()
    assert pasted.strip()
    assert not pasted.strip().startswith("!")


@given(TEXTS)
def test_what_is_clean_stays_as_it_is(text: str) -> None:
    try:
        pasted = sessions_text.clean_prompt(text)
    except UsageError:
        return
    assert sessions_text.clean_prompt(pasted) == pasted


@given(TEXTS)
def test_a_text_is_found_in_a_box_that_shows_it(text: str) -> None:
    try:
        pasted = sessions_text.clean_prompt(text)
    except UsageError:
        return
    if sessions_text.visible_characters(pasted):
        assert sessions_text.is_in_box(pasted, pasted, None)
        assert sessions_text.is_only_in_box(pasted, pasted, None)
