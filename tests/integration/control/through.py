"""Looks that go through a client in control mode."""

from __future__ import annotations

import select
from collections.abc import Callable, Iterable

from midwatch.core.pane_model import Pane
from midwatch.tmux.control_client import ControlClient
from midwatch.tmux.server import ServerSnapshot, TmuxObserver
from tests.conftest import PATIENCE, until
from tests.integration.panes.private import Private, everything

Attach = Callable[..., TmuxObserver]


def attached(private: Private, pane: str, limit: float = 20.0) -> TmuxObserver:
    """A sense that asks through a client."""
    sense = TmuxObserver(private.server, limit=limit)
    sense.attach(next(found for found in sense.observe(everything).panes if found.id == pane))
    until_ready(sense)
    return sense


def until_ready(sense: TmuxObserver) -> None:
    def ready() -> bool:
        sense.observe(everything)
        return control_of(sense).ready()

    until(ready)


def free(sense: TmuxObserver, look: ServerSnapshot) -> bool:
    """Whether a look took no client, as far as the server's version lets it."""
    return look.trouble == "" and (look.forks == 0 or not control_of(sense).way.limit)


def control_of(sense: TmuxObserver) -> ControlClient:
    assert sense.control is not None
    return sense.control


def client_of(sense: TmuxObserver) -> int:
    """Pid of the client."""
    client = control_of(sense)._client
    assert client is not None
    return client._pid


def until_lost(sense: TmuxObserver) -> None:
    """Wait until the client's end is seen: the server itself writes to us, and it may take a moment to know."""
    control = control_of(sense)
    while control._client is not None:
        assert select.select([control], [], [], PATIENCE)[0]
        control.read()


def clients(private: Private) -> list[str]:
    """Sessions that somebody is attached to."""
    return private("list-clients", "-F", "#{client_session}").split()


class Through(TmuxObserver):
    """Attaches to the first pane that it sees. Every look that it lets see the light was made without a fork."""

    def observe(
        self, wanted: Callable[[Pane], bool], *, colours: bool = False, known: Iterable[str] = ()
    ) -> ServerSnapshot:
        if self.control is None:
            self.attach(super().observe(lambda _: False).panes[0])
            until(lambda: super(Through, self).observe(lambda _: False).forks == 0)
        look = super().observe(wanted, colours=colours, known=known)
        assert free(self, look)
        return look
