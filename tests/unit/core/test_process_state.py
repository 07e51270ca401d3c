"""What is known of a process, as a value and as text."""

from __future__ import annotations

import pytest

from midwatch.core.process_state import WORDS, Exited, ProcessState, format_process, parse_process


@pytest.mark.parametrize(
    ("process", "text"),
    [
        (Exited(0), "exited(0)"),
        (Exited(137), "exited(137)"),
        (Exited(signal=9), "exited(SIGKILL)"),
        (Exited(signal=40), "exited(signal 40)"),
        (Exited(), "exited(unknown)"),
        *[(word, word) for word in WORDS],
    ],
)
def test_the_text_of_a_state_gives_it_back(process: ProcessState, text: str) -> None:
    assert format_process(process) == text
    assert parse_process(text) == process


@pytest.mark.parametrize("text", ["", "Alive", "exited", "exited(0", "(0)"])
def test_other_text_tells_nothing(text: str) -> None:
    assert parse_process(text) == "unknown"


@pytest.mark.parametrize("text", ["exited(-1)", "exited(²)", "exited(99999)", "exited(exited(0))"])
def test_an_end_with_a_code_that_cannot_be_has_none(text: str) -> None:
    assert parse_process(text) == Exited()
