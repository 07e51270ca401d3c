"""What the server tells wakes whoever sleeps on the client, and says that it is time to look."""

from __future__ import annotations

import select
import signal
from collections.abc import Callable

import pytest

from midwatch.tmux.control_client import ControlClient
from midwatch.tmux.server import TmuxObserver
from tests.conftest import PATIENCE, kill
from tests.integration.control.through import Attach, client_of, control_of
from tests.integration.panes.private import Private, everything


def woken(control: ControlClient) -> bool:
    """Sleep until it is time to look."""
    while select.select([control], [], [], PATIENCE)[0]:
        if control.read():
            return True
    return False


def calm(sense: TmuxObserver) -> None:
    """Take in what has been told of what has happened: it comes before the answer to a question."""
    sense.observe(everything)
    control_of(sense).read()


EVENTS: dict[str, Callable[[Private], object]] = {
    "a session is made": lambda private: private("new-session", "-d", "cat"),
    "a session ends": lambda private: private("kill-session", "-t", "=other"),
    "a window is made": lambda private: private("new-window", "-d", "-t", "=other:", "cat"),
    "a window ends": lambda private: private("kill-window", "-t", "=other:1"),
    "a window of ours is made": lambda private: private("new-window", "-d", "-t", "=ours:", "cat"),
    "a pane of ours ends": lambda private: private("kill-pane", "-t", "=ours:.1"),
    "a session gets another name": lambda private: private("rename-session", "-t", "=other", "name"),
    "the server ends": lambda private: private("kill-server"),
}


@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_it_is_time_to_look_when(private: Private, attach: Attach, event: Callable[[Private], object]) -> None:
    private.start(name="other")
    private("new-window", "-d", "-t", "=other:1", "cat")
    pane = private.start(name="ours", size=(60, 20))
    private("split-window", "-d", "-t", pane, "cat")
    through = attach(pane)
    calm(through)
    event(private)
    assert woken(control_of(through))


def test_what_panes_print_wakes_nobody(private: Private, attach: Attach) -> None:
    pane, other = private.start(), private.start()
    through = attach(pane)
    calm(through)
    for each in (pane, other):
        private.echo(each, "%sessions-changed")
    through.observe(everything)
    assert not control_of(through).read()


def test_what_is_told_during_a_look_is_not_lost(private: Private, attach: Attach) -> None:
    through = attach(private.start())
    control = control_of(through)
    calm(through)
    private.start()
    select.select([control], [], [], PATIENCE)
    through.observe(everything)
    assert control.read()
    assert not control.read()


def test_the_end_of_the_client_wakes(private: Private, attach: Attach) -> None:
    through = attach(private.start())
    calm(through)
    kill(client_of(through), signal.SIGKILL)
    assert woken(control_of(through))
    assert not control_of(through).read()
