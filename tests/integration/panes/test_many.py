"""Hundreds of panes take a handful of clients."""

from __future__ import annotations

import pytest

from midwatch.tmux.server import TmuxObserver
from tests.conftest import until
from tests.integration.panes.private import Private, everything

AT_ONCE = 50


def crowd(private: Private, count: int) -> list[str]:
    """Panes that show their own id, and again whenever they are sent a line."""
    script = 'while echo "i am $TMUX_PANE ."; read line; do :; done'
    private.start(script)
    for at in range(1, count, AT_ONCE):
        more = [["new-window", "-d", script] for _ in range(at, min(at + AT_ONCE, count))]
        private(*[word for command in more for word in (*command, ";")][:-1])
    panes = [f"%{number}" for number in range(count)]
    for pane in panes:
        private.until_shows(pane, f"i am {pane} .")
    return panes


def stir(private: Private, panes: list[str]) -> None:
    """Make every pane print."""
    for at in range(0, len(panes), AT_ONCE):
        keys = [["send-keys", "-t", pane, "again", "Enter"] for pane in panes[at : at + AT_ONCE]]
        private(*[word for command in keys for word in (*command, ";")][:-1])
    for pane in panes:
        until(lambda pane=pane: sum("i am" in row for row in private.screen(pane)) >= 2)  # type: ignore[misc]


@pytest.mark.parametrize(("count", "at_first", "later"), [(100, 2, 1), (300, 3, 3)])
def test_few_clients_see_many_panes(
    private: Private, sense: TmuxObserver, count: int, at_first: int, later: int
) -> None:
    panes = crowd(private, count)
    for most in (at_first, later):
        look = sense.observe(everything)
        assert look.forks <= most
        assert set(look.screens) == set(panes) == {pane.id for pane in look.panes}
        assert all(f"i am {pane} ." in rows for pane, rows in look.screens.items())
        stir(private, panes)
    look = sense.observe(everything)
    assert look.forks <= later
    assert all(rows.count(f"i am {pane} .") >= 2 for pane, rows in look.screens.items())
    private.quiet(sense)
    assert sense.observe(everything).forks == 1
