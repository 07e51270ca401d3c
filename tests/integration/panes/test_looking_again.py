"""A screen that cannot have changed is not captured again; one that may have changed is, whatever changed it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import pytest

from midwatch.tmux.server import TmuxObserver
from tests.conftest import kill, until
from tests.integration.panes.private import Private, everything

Change = Callable[[Private, str], object]


def test_what_is_known_takes_one_client_and_what_is_new_takes_another(private: Private, sense: TmuxObserver) -> None:
    panes = [private.start() for _ in range(3)]
    assert sense.observe(everything).forks == 2
    assert sense.observe(everything).forks == 1
    panes.append(private.start())
    look = sense.observe(everything)
    assert (look.forks, set(look.screens)) == (2, set(panes))
    private.echo(panes[0], "hello")
    look = sense.observe(everything)
    assert (look.forks, look.screens[panes[0]]) == (1, private.screen(panes[0]))


def test_panes_that_the_caller_knows_take_no_second_client(private: Private) -> None:
    panes = [private.start() for _ in range(3)]
    look = TmuxObserver(private.server).observe(everything, known=[*panes, "%99", "; kill-server", "%x", "%"])
    assert (look.forks, look.trouble) == (1, "")
    assert look.screens == {pane: private.screen(pane) for pane in panes}


def test_quiet_screens_are_kept(private: Private, sense: TmuxObserver) -> None:
    panes = [private.start() for _ in range(3)]
    kept = private.quiet(sense)
    assert set(kept) == set(panes)
    private.echo(panes[1], "hello")
    look = sense.observe(everything)
    assert [look.screens[pane] is kept[pane] for pane in panes] == [True, False, True]
    assert look.forks == 1


def test_nothing_shown_is_ever_older_than_the_look(private: Private, sense: TmuxObserver) -> None:
    """Windows tell whole seconds: what is printed just after a capture, in the same second, must be seen too."""
    pane = private.start(size=(60, 40))
    for number in range(30):
        private.echo(pane, f"line {number}.")
        assert f"line {number}." in sense.observe(everything).screens[pane]


def respawn(private: Private, pane: str) -> None:
    private("respawn-pane", "-k", "-t", pane, "cat")


def die(private: Private, pane: str) -> None:
    private("set-option", "-p", "-t", pane, "remain-on-exit", "on")
    kill(int(private("display-message", "-p", "-t", pane, "#{pane_pid}")), signal.SIGKILL)

    def noticed() -> bool:
        private("run-shell", "-b", "true")  # tmux 3.3a loses the end of a child now and then; another's tells it
        return any("Pane is dead" in row for row in private.screen(pane))

    until(noticed)


def swap(private: Private, pane: str) -> None:
    other = private.start("printf other; exec cat")
    private.until_shows(other, "other")
    private("swap-pane", "-d", "-s", pane, "-t", other)


def take_over(private: Private, pane: str) -> None:
    private("send-keys", "-t", pane, "-H", *[f"{byte:x}" for byte in b"\x1b[?1049hinside"], "0d")
    until(lambda: private("display-message", "-p", "-t", pane, "#{alternate_on}") == "1\n")


CHANGES: dict[str, Change] = {
    "printed": lambda private, pane: private.echo(pane, "more"),
    "reset": lambda private, pane: private("send-keys", "-R", "-t", pane),
    "respawned": respawn,
    "dead": die,
    "narrow": lambda private, pane: private("resize-window", "-t", pane, "-x", "10"),
    "low": lambda private, pane: private("resize-window", "-t", pane, "-y", "2"),
    "split": lambda private, pane: private("split-window", "-d", "-t", pane, "cat"),
    "moved": swap,
    "broken out": lambda private, pane: (
        private("split-window", "-d", "-t", pane, "cat"),
        private("break-pane", "-s", pane),
    ),
    "history cleared": lambda private, pane: private("clear-history", "-t", pane),
    "another program's screen": take_over,
    "person scrolls": lambda private, pane: private("copy-mode", "-t", pane),
    "renamed": lambda private, pane: private("select-pane", "-T", "new title", "-t", pane),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_after_any_change_the_screen_is_as_tmux_shows_it(private: Private, sense: TmuxObserver, change: Change) -> None:
    pane = private.start("printf 'one two three four five six seven\\nsecond\\n'; exec cat")
    private.until_shows(pane, "second")
    private.quiet(sense)
    change(private, pane)
    assert sense.observe(everything).screens[pane] == private.screen(pane)


def test_a_clock_that_is_set_makes_us_look_again(
    private: Private, sense: TmuxObserver, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane = private.start()
    kept = private.quiet(sense)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 3600)
    look = sense.observe(everything)
    assert look.screens == kept
    assert look.screens[pane] is not kept[pane]


def test_screens_with_and_without_colours_are_kept_apart(private: Private, sense: TmuxObserver) -> None:
    pane = private.start("printf '\\033[1mbold\\033[0m'; exec cat")
    private.until_shows(pane, "bold")
    plain, coloured = private.quiet(sense), private.quiet(sense, colours=True)
    assert plain[pane] == private.screen(pane) != coloured[pane] == private.screen(pane, "-e")
    private.echo(pane, "hello")
    assert sense.observe(everything).screens[pane] == private.screen(pane)
    assert sense.observe(everything, colours=True).screens[pane] == private.screen(pane, "-e")
