"""Panes and servers that go away while they are looked at: the rest is seen, and no pane passes for another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from midwatch.agents import catalog
from midwatch.core.pane_model import Pane
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.tmux.codec import commands as codec
from midwatch.tmux.server import TmuxObserver
from tests.conftest import until
from tests.integration.panes.agent import show
from tests.integration.panes.private import Private, everything


def filled(private: Private, count: int) -> list[str]:
    panes = [private.start(f"printf 'pane number {number}'; exec cat") for number in range(count)]
    for pane in panes:
        private.until_shows(pane, "pane number")
    return panes


def test_known_panes_that_are_gone_are_left_out_at_the_cost_of_nothing(private: Private, sense: TmuxObserver) -> None:
    panes = filled(private, 5)
    sense.observe(everything)
    for at in (0, 2, 4):
        private("kill-pane", "-t", panes[at])
    look = sense.observe(everything)
    assert [pane.id for pane in look.panes] == [panes[1], panes[3]]
    assert look.screens == {pane: private.screen(pane) for pane in (panes[1], panes[3])}
    assert (look.forks, look.trouble) == (1, "")


def test_a_pane_that_goes_between_list_and_capture_takes_nothing_with_it(private: Private, sense: TmuxObserver) -> None:
    panes = filled(private, 3)

    def wanted(pane: Pane) -> bool:
        if pane.id == panes[1]:
            private("kill-pane", "-t", pane.id)
        return True

    look = sense.observe(wanted)
    assert [pane.id for pane in look.panes] == panes
    assert look.screens == {pane: private.screen(pane) for pane in (panes[0], panes[2])}
    assert look.trouble == ""


def test_a_server_that_goes_between_list_and_capture_leaves_the_list(private: Private, sense: TmuxObserver) -> None:
    panes = filled(private, 2)
    sense.observe(lambda pane: pane.id == panes[0])

    def wanted(pane: Pane) -> bool:
        if pane.id == panes[1]:
            private.stop()
        return True

    look = sense.observe(wanted)
    assert [pane.id for pane in look.panes] == panes
    assert list(look.screens) == [panes[0]]
    assert look.cause == codec.ABSENT
    assert look.trouble


def test_panes_of_another_server_at_the_same_place_are_its_own(private: Private, sense: TmuxObserver) -> None:
    """Ids begin anew with each server; what was kept of a namesake must not be shown."""
    pane = private.start("printf old; exec cat")
    private.until_shows(pane, "old")
    private.quiet(sense)
    private.stop()
    again = private.start("printf new; exec cat")
    assert again == pane
    private.until_shows(pane, "new")
    look = sense.observe(everything)
    assert (look.trouble, look.screens) == ("", {pane: private.screen(pane)})
    assert "new" in look.screens[pane]


def test_a_server_without_sessions_has_no_panes_and_that_is_no_trouble(private: Private, sense: TmuxObserver) -> None:
    private.start(name="only")
    private("set-option", "-s", "exit-empty", "off")
    assert len(sense.observe(everything).panes) == 1
    private("kill-session", "-t", "=only")
    look = sense.observe(everything)
    assert (look.panes, look.screens, look.trouble, look.forks) == ((), {}, "", 1)
    pane = private.start()
    assert list(sense.observe(everything).screens) == [pane]


def test_a_known_pane_that_is_gone_costs_the_others_nothing(private: Private, sense: TmuxObserver) -> None:
    """What is named without a condition makes the server drop the rest of the request; the rest is then asked again."""
    first, last = private.start("echo first; exec cat"), private.start("echo last; exec cat")
    private.until_shows(first, "first")
    private.until_shows(last, "last")
    found = sense.observe(everything, known=[first, "%999", last])
    assert not found.trouble
    assert {pane: rows[0] for pane, rows in found.screens.items()} == {first: "first", last: "last"}


@pytest.mark.parametrize("missing", [{"args": ()}, {"environment": {}}], ids=str)
def test_an_agent_that_was_met_in_the_middle_of_its_exec_is_asked_again(
    private: Private, tmp_path: Path, missing: dict[str, Any]
) -> None:
    """It has its name a moment before its arguments and variables, by which its files are found."""
    pane = show(private, tmp_path, "claude", "2.1.325-calm-idle")
    panes = PaneObserver(catalog.load_all(), str(tmp_path), private.server)
    until(lambda: bool(panes.observe().seen))
    known = panes.known[pane]
    assert known.running is not None
    panes.known[pane] = known._replace(running=known.running._replace(**missing))
    panes.observe()
    found = panes.known[pane].running
    assert found is not None
    assert (found.args, found.environment) == (known.running.args, known.running.environment)
    panes.close()
