"""One pane and who sits before it, seen at one moment by somebody who is about to type there."""

from __future__ import annotations

import os
import time

from midwatch.core.errors import RefusedError
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec import commands as codec
from midwatch.tmux.codec import guarded_input
from midwatch.tmux.codec.guarded_input import PaneSnapshot

LIMIT = 5.0
"""Seconds that the server has for an answer."""


def take_snapshot(server: tuple[str, ...], pane: str) -> PaneSnapshot | None:
    """None where the pane is gone. RefusedError when the server does not tell."""
    place, word = tmux_client.socket_path(server), codec.make_word(os.urandom(10))
    try:
        answer = tmux_client.run_client(place, guarded_input.snapshot_command(word, pane), time.monotonic() + LIMIT)
    except OSError as error:
        raise RefusedError(f"tmux cannot be started: {error.strerror or error}") from error
    if answer.late:
        raise RefusedError(f"the tmux server at {place} did not answer within {LIMIT:g} s; nothing can be typed there")
    return guarded_input.parse_snapshot(answer.out, word)
