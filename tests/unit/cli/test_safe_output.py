"""The last guard: what a face forgot to escape is escaped, and its own lines and colours are not."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.cli.safe_output import SafeOutput
from midwatch.core.foreign_text import is_plain


def written(text: str) -> str:
    stream = io.StringIO(newline="")
    assert SafeOutput(stream).write(text) == len(text)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("NAME  STATE\nx\ty …\n", "NAME  STATE\nx\ty …\n"),
        ("\033[32mcompleted\033[0m\n", "\033[32mcompleted\033[0m\n"),
        ("\033[1;31mred\033[m", "\033[1;31mred\033[m"),
        ("\033]52;c;x\007\033[2J\r\u202e", "\\e]52;c;x\\x07\\e[2J\\r\\u202e"),
        ("\033[", "\\e["),
    ],
)
def test_lines_and_colours_pass(text: str, passes: str) -> None:
    assert written(text) == passes


@given(st.text(st.characters(codec=None, categories=None)))
def test_nothing_else_passes(text: str) -> None:
    rest = re.sub(r"\x1b\[[0-9;]*m", "", written(text))
    assert is_plain(rest.replace("\n", "").replace("\t", "")), ascii(rest)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_what_the_locale_has_no_bytes_for_is_an_escape_and_no_crash(encoding: str) -> None:
    stream: Any = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="", write_through=True)
    said = '{"title": "h\u00e9 \u4e2d \U0001f600"}\n'
    assert SafeOutput(stream).write(said) == len(said)
    shown = stream.buffer.getvalue().decode(encoding)
    assert json.loads(shown) == json.loads(said)
    assert shown.isascii() == (encoding == "ascii")


def test_all_else_is_the_stream_s_own() -> None:
    stream = io.StringIO()
    guarded = SafeOutput(stream)
    print("x", file=guarded, flush=True)
    assert guarded.getvalue() == "x\n"
    assert not guarded.isatty()
