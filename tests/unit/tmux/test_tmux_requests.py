"""What is asked of tmux: few requests, none too long, and no pane forgotten."""

from __future__ import annotations

import itertools
import re

import pytest

from midwatch.tmux.codec import commands as guarded_input
from midwatch.tmux.codec.query_modes import FORKED

WORD = "qwertyuiop"
SENDABLE = 16_384 - 16 - 4
"""What a client can send: a message of that size, less its own heading and that of the command."""


def panes(count: int, first: int) -> list[str]:
    return [f"%{number}" for number in range(first, first + count)]


def size(command: list[str]) -> int:
    return sum(len(argument.encode()) + 1 for argument in command)


def asked(command: list[str]) -> list[str]:
    return [argument[3:] for argument in command if re.fullmatch(r"-Ft%\d+", argument)]


@pytest.mark.parametrize("first", [0, 99_000])
@pytest.mark.parametrize("colours", [False, True])
def test_a_hundred_known_panes_find_room_beside_the_list(first: int, *, colours: bool) -> None:
    command = guarded_input.survey_command(WORD, dict.fromkeys(panes(1000, first), 1_794_000_000), colours=colours)
    assert size(command) <= FORKED.limit < SENDABLE
    assert asked(command) == panes(len(asked(command)), first)
    assert len(asked(command)) >= 100


@pytest.mark.parametrize("count", [0, 1, 150, 1000])
def test_new_panes_are_all_asked_for_in_few_requests(count: int) -> None:
    commands = guarded_input.capture_commands(WORD, panes(count, 99_000), colours=True)
    assert [pane for command in commands for pane in asked(command)] == panes(count, 99_000)
    assert all(size(command) <= FORKED.limit for command in commands)
    assert len(commands) <= -(-count // 150)


def test_no_request_has_more_arguments_than_a_server_takes() -> None:
    """From 3.7 on it takes a thousand; a screen that is asked for without a condition takes seven."""
    command = guarded_input.survey_command(WORD, dict.fromkeys(panes(1000, 0), 0), colours=True)
    assert 990 < len(command) <= FORKED.words == 1000


def test_no_request_begins_with_a_separator() -> None:
    """For tmux an empty command is an error."""
    for command in (
        guarded_input.survey_command(WORD, {"%1": 0}, colours=False),
        *guarded_input.capture_commands(WORD, ["%1"], colours=False),
    ):
        assert command[0] != ";"
        assert command[-1] != ";"
        assert (";", ";") not in itertools.pairwise(command)


def test_of_a_pane_that_may_be_gone_nothing_is_evaluated_but_whether_it_is_there() -> None:
    """Asked for the time of a window that there is not, tmux 3.2a crashes (tried)."""
    command = guarded_input.survey_command(WORD, {"%7": 5}, colours=False)
    assert command[command.index("-Ft%7") + 1] == "#{?pane_id,#{>=:#{window_activity},5},}"


def test_marks_are_words_that_mean_nothing_to_tmux() -> None:
    words = {guarded_input.make_word(bytes([byte]) * 10) for byte in range(256)}
    assert len(words) == 32
    assert all(re.fullmatch("[a-z2-7]{10}", word) for word in words)
