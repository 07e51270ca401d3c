"""What tmux is asked by one who types, and how its answers are read."""

from __future__ import annotations

import pytest

from midwatch.tmux.codec import guarded_input
from midwatch.tmux.codec.guarded_input import FACTS, AttachedClient

WORD = "abcdefghij"
VALUES = {
    "pane_pid": "4711", "pane_dead": "0", "pane_in_mode": "0", "pane_input_off": "0", "pane_synchronized": "0",
    "pane_width": "80", "pane_height": "2", "alternate_on": "0", "cursor_x": "2", "cursor_y": "1",
    "session_activity": "1700000000",
}  # fmt: skip


def reply(command: str = "claude ✳ Claude Code", clients: str = "", **changed: str) -> bytes:
    told = " ".join((VALUES | changed)[name] for name in FACTS)
    return f"{WORD}P{told} {command}{WORD}\n{clients}{WORD}S\nrow one\n\x1b[2mrow two\n{WORD}E\n".encode()


def test_a_snapshot_is_read() -> None:
    seen = guarded_input.parse_snapshot(reply(clients=f"{WORD}K%3,1700000001,0,0\n{WORD}K%4,,1,1\n"), WORD)
    assert seen is not None
    assert seen.rows == ("row one", "\x1b[2mrow two")
    assert seen.clients == (
        AttachedClient("%3", 1700000001, control=False, readonly=False),
        AttachedClient("%4", 0, control=True, readonly=True),
    )
    assert (seen.dead, seen.mode, seen.deaf, seen.together) == (False, False, False, False)


@pytest.mark.parametrize(
    ("fact", "value", "field"),
    [
        ("pane_dead", "1", "dead"),
        ("pane_in_mode", "2", "mode"),
        ("pane_input_off", "1", "deaf"),
        ("pane_synchronized", "1", "together"),
    ],
)
def test_each_thing_that_takes_keys_away_is_seen(fact: str, value: str, field: str) -> None:
    seen = guarded_input.parse_snapshot(reply(**{fact: value}), WORD)
    assert seen is not None
    assert getattr(seen, field) is True


@pytest.mark.parametrize("cut", [0, 20, -2, -14])
def test_half_an_answer_is_none(cut: int) -> None:
    assert guarded_input.parse_snapshot(reply()[:cut], WORD) is None


def test_a_pane_that_is_gone_is_none() -> None:
    told = " " * len(FACTS)
    assert guarded_input.parse_snapshot(f"{WORD}P{told}{WORD}\n{WORD}S\n\n{WORD}E\n".encode(), WORD) is None


def test_the_guard_says_what_was_seen_and_escapes_what_means_something_to_tmux() -> None:
    seen = guarded_input.parse_snapshot(reply(command="sh a,b}#c"), WORD)
    assert seen is not None
    assert seen.guard == f"#{{==:{guarded_input.GUARDED},{' '.join(VALUES.values())} sh a#,b#}}##c}}"


def test_the_text_is_in_no_request() -> None:
    asked = guarded_input.paste_command(WORD, "%3", "GUARD", "midwatch-x")
    assert asked[:5] == ["load-buffer", "-b", "midwatch-x", "-", ";"]
    assert asked[5:10] == ["if-shell", "-F", "-t", "%3", "GUARD"]
    assert asked[10].startswith("paste-buffer -prd -b midwatch-x -t %3 ;")
    assert asked[11].startswith("delete-buffer -b midwatch-x ;")


@pytest.mark.parametrize(("data", "typed"), [(f"{WORD}Y\n", True), (f"{WORD}N\n", False), ("", None)])
def test_what_the_server_did(data: str, typed: bool | None) -> None:
    assert guarded_input.was_typed(data.encode(), WORD) is typed
