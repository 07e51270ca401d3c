"""Sends a prompt through `ntm --robot-send`: our look before it, and our proof after it.

ntm pastes and presses Enter in one, and knows of no guard: what happens between our look and its keys nobody notices.
What it says is not enough: it is looked for the text in the box, where Enter is pressed once more, and for the agent's
own record. What ntm calls failed is not delivered, unless the agent itself tells that it has it.
"""

from __future__ import annotations

import time

from midwatch.core.errors import RefusedError
from midwatch.integrations import ntm
from midwatch.sessions.prompting import prompt_delivery
from midwatch.sessions.prompting.model import EMPTY, PromptOutcome, PromptRefusal, PromptResult
from midwatch.sessions.prompting.prompt_delivery import PAUSE, PromptDelivery
from midwatch.tmux import client as tmux_client
from midwatch.tmux import pane_location


class NtmDelivery(PromptDelivery):
    trouble = ""
    """What ntm did not do, in words."""

    def _ready(self) -> tuple[PromptRefusal | None, str]:
        if why := ntm.find_problem(self.text):
            return PromptRefusal(PromptOutcome.REFUSED, why), ""
        return super()._ready()

    def _paste(self, guard: str) -> bool:
        del guard
        there = pane_location.find_location(self.panes.tmux.server, self.pane)
        if there is None:
            raise RefusedError("the tmux server does not tell in which session the pane is")
        if not tmux_client.may_connect(self.socket):  # ntm would connect without a question
            raise RefusedError(f"no tmux server listens at {self.socket} any more")
        own = there.own
        self.typed, self.submitted = True, time.time()
        try:
            also = (own.number, f"{own.window}.{own.number}")  # the second where a session has several windows
            ntm.send_text(own.session, self.pane, self.text, also=also, socket=self.socket)
        except ntm.NtmError as error:
            self.trouble = str(error)
        return True

    def _pressed(self) -> PromptRefusal | None:
        """Wait until the text stands in the box, or is known to be taken; or why ntm has failed."""
        most = prompt_delivery.PROVEN + len(self.text) / prompt_delivery.SPEED
        patience = prompt_delivery.WEAKER if self.trouble else most
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            seen, box = self._take_snapshot()
            if seen is None:
                return PromptRefusal(PromptOutcome.EXITED, "the pane is gone")
            if self._stands(box):
                break
            if self._proof():
                return None
            time.sleep(PAUSE)
        return PromptRefusal(PromptOutcome.NOT_TAKEN, self.trouble) if self.trouble else None

    def _emptied(self) -> bool:
        """What ntm has failed to type, and was not seen for a while, does not come any more."""
        return (not self.stood and self._take_snapshot()[1].state == EMPTY) or super()._emptied()

    def _proven(self, found: str) -> PromptResult:
        sent = super()._proven(found)
        if not found and not self.stood:
            unseen = "ntm says that it was sent, but nothing shows it; look there before you send it again"
            return sent._replace(reason=unseen)
        return sent._replace(reason=f"{sent.reason}, though {self.trouble}") if self.trouble else sent
