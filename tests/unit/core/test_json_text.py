"""JSON of which every character can be seen, and which is read as what it was."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.core import json_text
from midwatch.core.foreign_text import ForeignText, is_plain
from midwatch.core.json_text import dump, load, load_strict

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


near_json = st.builds(json.dumps, values | st.floats()) | st.text('[]{}",:0123456789.-+eE \\untrfalsNIiy\t\n\ufeff')


@given(near_json, st.sampled_from(["", " ", "\n", "\x0b", "x"]))
def test_a_text_is_read_as_the_json_module_reads_it(text: str, behind: str) -> None:
    assert outcome(load, text + behind) == outcome(json.loads, text + behind)


@given(near_json)
def test_read_strictly_there_are_no_numbers_that_json_does_not_have(text: str) -> None:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is not JSON, whatever Python says")

    assert outcome(load_strict, text) == outcome(lambda given: json.loads(given, parse_constant=refuse), text)


def outcome(read: Callable[[str], object], text: str) -> str:
    try:
        return repr(read(text))
    except (ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"


def test_without_the_part_in_c_it_is_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"a": [1, None, "\u202e"], "b": ForeignText("x")}
    quick = dump(value), dump(value, spaced=True), load('{"a": [1.5, NaN]}')
    monkeypatch.setattr(json_text, "_scan", None)
    monkeypatch.setattr(json_text, "_encoder", None)
    assert repr((dump(value), dump(value, spaced=True), load('{"a": [1.5, NaN]}'))) == repr(quick)


@pytest.mark.parametrize("text", ["", "{", "{1: 2}", '"\\x"', "[1,]", '{"a" 1}', '"', '"\x01"', '{"a":1}x', "nope"])
def test_where_nobody_has_loaded_the_json_module_an_error_is_that_of_it_too(text: str) -> None:
    """As in `ls` and `wait`: here the test itself has loaded it."""
    script = (
        "import sys\n"
        "from midwatch.core.json_text import load\n"
        "assert 'json' not in sys.modules\n"
        "try:\n    load(sys.argv[1])\n"
        "except ValueError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, text], capture_output=True, text=True, check=False)
    with pytest.raises(ValueError, match=r"line 1") as error:
        json.loads(text)
    assert (done.stdout, done.stderr) == (f"{error.value}\n", "")
