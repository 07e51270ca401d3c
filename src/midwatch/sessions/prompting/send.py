"""Sends a prompt to an agent in a pane, alone with that pane meanwhile, and notes what did not arrive."""

from __future__ import annotations

import time
from collections.abc import Callable

from midwatch.core.errors import RefusedError
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import undelivered_store
from midwatch.sessions.prompting.codec import text as sessions_text
from midwatch.sessions.prompting.model import PromptOutcome, PromptResult
from midwatch.sessions.prompting.pane_lock import PaneLock, PaneLockedError
from midwatch.sessions.prompting.prompt_delivery import PAUSE, PromptDelivery


def send_prompt(
    panes: PaneObserver, pane: str, text: str, *, until: float = 0.0, stopped: Callable[[], bool] = lambda: False,
    past_limit: bool = False, alone: bool = False, via: str = "tmux",
) -> PromptResult:  # fmt: skip
    """Send a prompt, if need be once the agent has come to its prompt; what became of it, whatever that was.

    ``until`` (monotonic): how long to wait for what may pass by itself; what a person must see to is told at once.
    ``stopped`` is asked between steps whether to leave off. ``past_limit``: the limit that it shows is over. ``alone``:
    not while a person is in that pane, though their hands rest. ``via``: of WAYS. What may still stand in the box is
    noted, and notes of what has arrived are settled. Raises UsageError for a text that cannot be typed.
    """
    way = PromptDelivery
    if via == "ntm":
        from midwatch.sessions.prompting import send_via_ntm  # noqa: PLC0415  # few have ntm

        way = send_via_ntm.NtmDelivery
    sending = way(panes, pane, sessions_text.clean_prompt(text), stopped, past_limit=past_limit, alone=alone)
    sent = _try_send(sending, until)
    undelivered_store.update_notes(sent, sending.socket, pane, sending.text, sending.pid)
    return sent


def _try_send(sending: PromptDelivery, until: float) -> PromptResult:
    while True:
        try:
            with PaneLock(sending.socket, sending.pane):
                return sending.run(until)
        except PaneLockedError as error:
            if time.monotonic() >= until:
                return PromptResult(PromptOutcome.PERSON, str(error))
        except RefusedError as error:
            return sending.lost(str(error))
        if sending.stopped():
            return PromptResult(PromptOutcome.INTERRUPTED, "interrupted before anything was typed")
        time.sleep(PAUSE)
