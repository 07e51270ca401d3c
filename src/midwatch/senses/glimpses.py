"""One pane and who sits before it, seen at one moment by somebody who is about to type there."""

from __future__ import annotations

import os
import time

from midwatch.formats import tmux as codec
from midwatch.formats import typing_tmux
from midwatch.model.errors import RefusedError
from midwatch.model.sending import Glimpse
from midwatch.senses import servers

LIMIT = 5.0
"""Seconds that the server has for an answer."""


def glimpse(server: tuple[str, ...], pane: str) -> Glimpse | None:
    """None where the pane is gone. RefusedError when the server does not tell."""
    place, word = servers.socket_path(server), codec.mark(os.urandom(10))
    try:
        answer = servers.ask(place, typing_tmux.glimpse(word, pane), time.monotonic() + LIMIT)
    except OSError as error:
        raise RefusedError(f"tmux cannot be started: {error.strerror or error}") from error
    if answer.late:
        raise RefusedError(f"the tmux server at {place} did not answer within {LIMIT:g} s; nothing can be typed there")
    return typing_tmux.read_glimpse(answer.out, word)
