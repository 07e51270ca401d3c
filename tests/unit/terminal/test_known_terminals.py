"""What terminals understand, by what they tell their programs."""

from __future__ import annotations

import pytest

from midwatch.terminal.known_terminals import answers_queries, shows_progress_bar, shows_status, takes_reports


def program(name: str, version: str) -> dict[str, str]:
    return {"TERM": "xterm-256color", "TERM_PROGRAM": name, "TERM_PROGRAM_VERSION": version}


@pytest.mark.parametrize(
    ("env", "status", "bar"),
    [
        (program("ghostty", "1.4.0"), True, True),
        (program("ghostty", "1.4.0-dev+3f2a"), True, True),
        (program("ghostty", "2.0"), True, True),
        (program("ghostty", "1.3.1"), False, True),
        (program("ghostty", "1.1.9"), False, False),
        (program("ghostty", "tip"), False, False),
        (program("ghostty", ""), False, False),
        (program("iTerm.app", "3.6.6"), False, True),
        (program("iTerm.app", "3.10.1"), False, True),
        (program("iTerm.app", "3.6.5"), False, False),
        (program("iTerm.app", "3.6"), False, False),
        (program("WezTerm", "20240203-110809-5046fc22"), False, False),
        (program("Apple_Terminal", "455"), False, False),
        ({"TERM": "xterm", "WT_SESSION": "a-b"}, False, True),
        ({"TERM": "xterm", "WT_SESSION": ""}, False, False),
        ({"TERM": "xterm", "ConEmuANSI": "ON"}, False, True),
        ({"TERM": "xterm", "ConEmuANSI": "OFF"}, False, False),
        ({"TERM": "xterm", "KONSOLE_VERSION": "260400"}, False, True),
        ({"TERM": "xterm", "KONSOLE_VERSION": "251203"}, False, False),
        ({"TERM": "xterm", "KONSOLE_VERSION": "x"}, False, False),
        ({}, False, False),
    ],
    ids=str,
)
def test_what_a_terminal_shows(env: dict[str, str], status: bool, bar: bool) -> None:
    assert (shows_status(env), shows_progress_bar(env)) == (status, bar)


@pytest.mark.parametrize(
    ("env", "takes"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "TMUX": ""}, True),
        ({"TERM": "xterm", "TMUX": "/tmp/tmux-0/default,1,0"}, False),
        ({"TERM": "xterm", "STY": "1.pts"}, False),
        ({"TERM": "tmux-256color"}, False),
        ({"TERM": "screen"}, False),
        ({"TERM": "screen.xterm-256color"}, False),
        ({"TERM": "dumb"}, False),
        ({"TERM": "linux"}, False),
        ({"TERM": ""}, False),
        ({}, False),
    ],
    ids=str,
)
def test_who_takes_reports(env: dict[str, str], takes: bool) -> None:
    assert takes_reports(env) == takes


def test_a_terminal_at_the_other_end_of_a_line_is_not_asked() -> None:
    assert answers_queries({"TERM": "xterm"})
    assert not answers_queries({"TERM": "xterm", "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"})
    assert not answers_queries({"TERM": "xterm", "SSH_TTY": "/dev/pts/1"})
