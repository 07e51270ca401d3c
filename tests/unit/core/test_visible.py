"""What is shown of others' text cannot hide, move or turn around."""

import unicodedata

import pytest

from midwatch.core.text import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("uv sync --all", "uv sync --all"),
        ("grüße 日本", "grüße 日本"),
        ("a\x1b[2Kb", "a\\e[2Kb"),
        ("true\rfalse", "true\\rfalse"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x00\x7f\x9b\xa0", "\\x00\\x7f\\x9b\\xa0"),
        ("a\u202eb\u2066c\u200bd", "a\\u202eb\\u2066c\\u200bd"),
        ("\U000e0041", "\\U000e0041"),
        ("\udc80", "\\udc80"),
    ],
)
def test_only_plain_characters_are_shown_as_they_are(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_no_control_or_format_character_gets_through() -> None:
    odd = [chr(n) for n in range(0x110000) if unicodedata.category(chr(n)) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    assert len(odd) > 2000
    assert visible("".join(odd)).isprintable()
