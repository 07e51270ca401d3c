"""What a recording must not give away."""

from __future__ import annotations

import pytest

from dogwatch.formats.redact import HIDDEN, Redactor

REDACTOR = Redactor(("/home/ada", "/home/ada/deep/home", ""))


@pytest.mark.parametrize(
    "key",
    [
        "sk-ant-api03-abcdefghijklmnop_QRSTUV",
        "sk-proj-abcdefghijklmnopqrstuvwx",
        "AIza" + "B" * 35,
        "ghp_" + "a1" * 18,
        "xoxb-1234567890-abcdef",
        "AKIAABCDEFGHIJKLMNOP",
        "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
    ],
)
def test_a_key_is_hidden_and_keeps_its_length(key: str) -> None:
    assert REDACTOR.clean(f"│ key {key} │") == f"│ key {HIDDEN * len(key)} │"


@pytest.mark.parametrize("words", ["Bearer abcdef123456", "https://x/?api_key=abcdef123456", "PASSWORD=hunter2222"])
def test_what_follows_such_a_word_is_hidden(words: str) -> None:
    assert HIDDEN * 9 in REDACTOR.clean(words)


@pytest.mark.parametrize("words", ["risk-averse", "task-1234567890abcdef is done", "skip", "the token is spent"])
def test_plain_words_stay(words: str) -> None:
    assert REDACTOR.clean(words) == words


def test_homes_are_renamed_the_longest_first_and_only_whole_names() -> None:
    assert REDACTOR.clean("/home/ada/x /home/ada/deep/home/y /home/adam") == "/home/user/x /home/user/y /home/adam"
