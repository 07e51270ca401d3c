"""JSON of which every character can be seen, and which is read as what it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dogwatch.formats.json_text import dump
from dogwatch.model.foreign_text import ForeignText, is_plain

texts = st.text(st.characters(codec="utf-8", categories=None))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
)


@given(values, st.booleans())
def test_it_is_read_as_it_was_and_hides_nothing(value: Any, spaced: bool) -> None:
    text = dump(value, spaced=spaced)
    assert json.loads(text) == value
    assert is_plain(text)


@given(texts)
def test_foreign_text_is_a_text_there(text: str) -> None:
    assert json.loads(dump({"note": ForeignText(text)})) == {"note": text}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("\u202e", '"\\u202e"'),
        ("\U000e0041", '"\\udb40\\udc41"'),
        ("\x7f\x9b", '"\\u007f\\u009b"'),
        ("half \udcff", '"half \\udcff"'),
        ("… 日本 👍", '"… 日本 👍"'),
    ],
)
def test_only_what_cannot_be_seen_is_an_escape(value: str, text: str) -> None:
    assert dump(value) == text
    assert json.loads(text) == value


def test_what_json_has_no_form_for_is_an_error_unless_it_is_said_how() -> None:
    with pytest.raises(TypeError):
        dump({1, 2})
    assert dump([{1}], other=lambda _: "\u202e") == '["\\u202e"]'
