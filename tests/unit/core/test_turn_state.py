"""The words of a turn as values."""

from __future__ import annotations

import pytest

from midwatch.core.exhaustive import assert_never
from midwatch.core.foreign_text import ForeignText
from midwatch.core.pane_model import TURNS
from midwatch.core.turn_state import (
    Departed,
    Idle,
    Limited,
    Suspended,
    TurnState,
    Unread,
    Waiting,
    Working,
    read_turn,
)
from midwatch.core.verdict import Verdict

UNTIL = ForeignText("3am")


@pytest.mark.parametrize(
    ("turn", "detail", "state"),
    [
        ("working", "tool", Working("tool")),
        ("waiting", "permission", Waiting("permission")),
        ("limited", "plan", Limited(UNTIL, 7.0)),
        ("idle", "turn-ended", Idle("turn-ended")),
        ("exited", "suspended", Suspended()),
        ("exited", "turn-ended", Departed("turn-ended")),
        ("unknown", "", Unread()),
        ("", "", Unread()),
        ("asleep", "", Unread()),
    ],
)
def test_each_state_has_its_own_data(turn: str, detail: str, state: TurnState) -> None:
    found = read_turn(turn, detail, UNTIL, 7.0)
    assert found == state
    assert type(found) is type(state)
    verdict = Verdict("x", "session", "working", False, "", "alive", "unknown", turn=turn, detail=detail)
    assert type(verdict.turn_state) is type(state)


def test_every_word_for_a_turn_has_a_state() -> None:
    assert Unread not in [type(read_turn(turn, "")) for turn in TURNS]


def test_what_is_no_state_is_our_error() -> None:
    with pytest.raises(AssertionError, match="was not expected"):
        assert_never("working")  # type: ignore[arg-type]
