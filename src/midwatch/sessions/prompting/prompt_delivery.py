"""One prompt for one pane: look, paste, see it stand in the box, submit, see it taken.

Nothing is typed unless everything speaks for it, and the server checks once more as it types. Enter comes only when the
text stands in the box: agents take what follows a paste too soon for a part of it. It is pressed a second time if the
text still stands there, and never after it was gone: whoever interrupts the agent at once gets the text back into the
box. What is not taken is taken out again, as long as nothing but ours stands there.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from midwatch.agents.definition import Detector, is_agent
from midwatch.core.errors import RefusedError
from midwatch.jobs.loop_beat import LoopBeat
from midwatch.sessions.model import PaneVerdict
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import input_box as boxes
from midwatch.sessions.prompting.codec import text as sessions_text
from midwatch.sessions.prompting.model import DRAFT, EMPTY, UNSEEN, InputBox, PromptOutcome, PromptRefusal, PromptResult
from midwatch.sessions.prompting.rules import readiness
from midwatch.sessions.prompting.rules.delivery_proof import HOOK, PROVEN_BY, SCREEN, STATE, TRANSCRIPT, find_proof
from midwatch.sessions.prompting.transcript_check import TranscriptPrompts
from midwatch.sessions.rules.verdict import CONFIRM
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec.commands import ABSENT
from midwatch.tmux.codec.guarded_input import PaneSnapshot
from midwatch.tmux.pane_input import KeyTyper
from midwatch.tmux.pane_snapshot import take_snapshot

PAUSE = 0.1
"""Seconds between looks while something is waited for: no agent tells of its box."""
RESTLESS = 3.0
"""Seconds in which a pane may change each time it is looked at, or as the server is to paste."""
SHOWN, SPEED = 20.0, 5000.0
"""Seconds until a paste must stand in the box, and characters for which it has a second more.

Codex shows none while it begins; Qwen takes a quarter of a minute for 100 kB.
"""
AGAIN = 4.0
"""Seconds after Enter until it is pressed once more."""
GIVEN_UP = 8.0
"""Seconds after the second Enter until the text is taken out again."""
PROVEN = 10.0
"""Seconds after the box was empty in which a transcript or a hook may still tell."""
WEAKER = 3.0
"""The same once a state file or a server has told."""
EMPTIED = 10.0
"""Seconds in which the box must be empty again when the text is taken out."""
REDRAWN = 1.0
"""Seconds after which a box that is not to be seen is not just being drawn."""


class PromptDelivery:
    """One prompt for one pane."""

    def __init__(
        self, panes: PaneObserver, pane: str, text: str, stopped: Callable[[], bool], *, past_limit: bool, alone: bool
    ) -> None:
        self.panes, self.pane, self.text = panes, pane, text
        self.stopped, self.past_limit, self.alone = LoopBeat().after_each(stopped), past_limit, alone
        self.socket = tmux_client.socket_path(panes.tmux.server)
        self.pid = 0
        """Of the pane's first process."""
        self.hand = KeyTyper(panes.tmux.server, pane)
        self.detector: Detector | None = None
        self.typed = False
        self.stood = False
        """The text has been seen in the box."""
        self.submitted = 0.0
        """When Enter was first pressed, on the wall clock."""

    def run(self, until: float) -> PromptResult:
        if why := self._pasted(until):
            return self._said(why)
        if why := self._pressed():
            return self._back(why)
        return self._taken()

    def lost(self, why: str) -> PromptResult:
        """The server has stopped answering."""
        if self.submitted:
            return self._said(PromptRefusal(PromptOutcome.UNPROVEN, f"{why}; whether it was taken is not known"))
        return self._said(
            PromptRefusal(PromptOutcome.NOT_TAKEN if self.typed else PromptOutcome.UNKNOWN, why), left=self.typed
        )

    def _said(self, why: PromptRefusal, *, proof: str = "", left: bool = False) -> PromptResult:
        agent = self.detector.agent if self.detector else ""
        return PromptResult(why.outcome, why.reason, agent, why.detail, proof=proof, typed=self.typed, left=left)

    # Looks ------------------------------------------------------------------------------------------------------

    def _look(self) -> PaneVerdict | None:
        return next(iter(self.panes.observe(self.pane).seen), None)

    def _take_snapshot(self) -> tuple[PaneSnapshot | None, InputBox]:
        seen = take_snapshot(self.panes.tmux.server, self.pane)
        return seen, boxes.read_input_box(self.detector, seen.rows) if seen and self.detector else InputBox(UNSEEN)

    def _stands(self, box: InputBox) -> bool:
        found = box.state == DRAFT and sessions_text.is_in_box(box.text, self.text, self.typing.folded)
        self.stood |= found
        return found

    # Before Enter -----------------------------------------------------------------------------------------------

    def _pasted(self, until: float) -> PromptRefusal | None:
        """Wait for its prompt, and paste; or why not. What only the screen shows must last."""
        last, since, limit = "?", 0.0, 0.0
        while True:
            why, guard = self._ready()
            now, found = time.monotonic(), why.outcome if why else ""
            limit = limit or max(until, now + RESTLESS)
            if found != last:
                last, since = found, now
            if self.stopped():
                return PromptRefusal(PromptOutcome.INTERRUPTED, "interrupted before anything was typed")
            if why is not None and (now >= limit or readiness.is_final_refusal(why, now - since, over=now >= until)):
                return why
            if (
                why is None
                and (readiness.is_sure(self.before) or now - since >= CONFIRM["idle"])
                and self._paste(guard)
            ):
                return None
            if now >= limit:
                return PromptRefusal(
                    PromptOutcome.STARTING, "it changes whenever it is looked at; try again when it rests"
                )
            time.sleep(PAUSE)

    def _ready(self) -> tuple[PromptRefusal | None, str]:
        """Why nothing can be typed now; or the guard to type with."""
        looked = self.panes.observe(self.pane)
        if looked.trouble:
            return PromptRefusal(
                PromptOutcome.EXITED if looked.cause == ABSENT else PromptOutcome.UNKNOWN, looked.trouble
            ), ""
        found = next(iter(looked.seen), None)
        self.detector = self.panes.known[self.pane].detector if found else None
        try:
            seen, box = self._take_snapshot()
        except RefusedError as error:
            return PromptRefusal(PromptOutcome.UNKNOWN, str(error)), ""
        if seen is None:
            return PromptRefusal(PromptOutcome.EXITED, "the pane is gone"), ""
        if found is None or self.detector is None:
            return PromptRefusal(
                PromptOutcome.EXITED if seen.dead else PromptOutcome.STARTING, "no agent is to be seen in it"
            ), ""
        if self.detector.typing is None:
            return PromptRefusal(
                PromptOutcome.REFUSED, f"nobody has told us what the input box of {self.detector.title} looks like"
            ), ""
        front = any(task.foreground and is_agent(self.detector, task) for task in found.sighting.tasks)
        self.began = time.time()
        self.before, self.typing, self.pid = found.verdict, self.detector.typing, found.sighting.pane.pid
        self.prompts = TranscriptPrompts(self.detector.agent, found.sighting.reports)
        why = readiness.find_refusal(
            found.verdict, front=front, snapshot=seen, box=box, pane=self.pane, wall=self.began,
            past_limit=self.past_limit, alone=self.alone,
        )  # fmt: skip
        return why, seen.guard

    def _paste(self, guard: str) -> bool:
        self.typed = True  # until the server says that it was not: it may fall silent half way
        self.typed = self.hand.paste(self.text, guard)
        return self.typed

    def _pressed(self) -> PromptRefusal | None:
        """Wait until the text stands in the box, and press Enter; or why not."""
        patience = SHOWN + len(self.text) / SPEED
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            seen, box = self._take_snapshot()
            if seen is None:
                return PromptRefusal(PromptOutcome.EXITED, "the pane is gone")
            if self.stopped():
                return PromptRefusal(PromptOutcome.INTERRUPTED, "interrupted")
            if readiness.last_key_time(seen, self.pane) >= int(self.began):
                return PromptRefusal(PromptOutcome.PERSON, "somebody has begun to type there")
            if self._stands(box):
                if self._works():
                    return PromptRefusal(PromptOutcome.WORKING, "a turn has begun there meanwhile")
                moment = time.time()
                if self.hand.press((self.typing.submit,), seen.guard):
                    self.submitted = moment
                    return None
            time.sleep(PAUSE)
        return PromptRefusal(PromptOutcome.NOT_TAKEN, f"it did not show the text in its box within {patience:.0f} s")

    def _works(self) -> bool:
        """Whether a turn has begun without us. Screens are not asked: our own text is on it and may look like one."""
        looked = self._look()
        return looked is not None and looked.verdict.turn == "working" and readiness.is_sure(looked.verdict)

    # After it ---------------------------------------------------------------------------------------------------

    def _taken(self) -> PromptResult:
        """Wait for a proof; press Enter once more if need be. What comes into the box once it was empty is not ours."""
        pressed, again, gone, empty = time.monotonic(), False, 0.0, False
        while True:
            seen, box = self._take_snapshot()
            now = time.monotonic()
            empty = empty or box.state == EMPTY
            if seen is not None and not empty and self._stands(box):
                gone = 0.0
                if self.stopped():
                    return self._back(PromptRefusal(PromptOutcome.INTERRUPTED, "interrupted"))
                if now - pressed > (GIVEN_UP if again else AGAIN + GIVEN_UP):
                    return self._back(PromptRefusal(PromptOutcome.NOT_TAKEN, "Enter did not send it"))
                if not again and now - pressed > AGAIN and self.hand.press((self.typing.submit,), seen.guard):
                    again, pressed = True, now
            else:
                gone = gone or now
                again = again or now - gone > REDRAWN
                found = self._proof()
                patience = WEAKER if found == STATE else PROVEN
                if found in (TRANSCRIPT, HOOK) or seen is None or self.stopped() or now - gone > patience:
                    return self._ended(found, seen, box, empty=empty)
            time.sleep(PAUSE)

    def _ended(self, found: str, seen: PaneSnapshot | None, box: InputBox, *, empty: bool) -> PromptResult:
        if found or empty or (seen is not None and box.state == UNSEEN):
            return self._proven(found)
        if seen is None:
            return self._said(
                PromptRefusal(PromptOutcome.UNPROVEN, "the pane is gone; nobody can tell if it was taken")
            )
        return self._said(
            PromptRefusal(PromptOutcome.NOT_TAKEN, "something else stands in its box now; look there"), left=True
        )

    def _proof(self) -> str:
        looked = self._look()
        if looked is None:
            return ""
        reports = looked.sighting.reports
        written = self.prompts.hold(reports, self.text, self.submitted)
        return find_proof(self.before, looked.verdict, reports, self.submitted, written=written)

    def _proven(self, found: str) -> PromptResult:
        by = found or SCREEN
        return self._said(
            PromptRefusal(PromptOutcome.DELIVERED if found else PromptOutcome.UNPROVEN, PROVEN_BY[by]), proof=by
        )

    def _back(self, why: PromptRefusal) -> PromptResult:
        """Take out what is ours. The keys come after Enter: once they have worked, Enter has had its turn, too."""
        left = not self._emptied()
        deadline = time.monotonic() + WEAKER
        while self.submitted and not left and time.monotonic() < deadline:
            if found := self._proof():
                return self._proven(found)
            time.sleep(PAUSE)
        rest = "it may still stand there, or come yet" if left else "nothing of it stands there any more"
        return self._said(why._replace(reason=f"{why.reason}; {rest}"), left=left)

    def _emptied(self) -> bool:
        """Whether nothing of ours stands in the box. What has never been seen there may still come."""
        moved, pressed, last = time.monotonic(), 0.0, None
        while (now := time.monotonic()) - moved < EMPTIED:
            seen, box = self._take_snapshot()
            if seen is None or (box.state == EMPTY and self.stood):
                return True
            if box.state == DRAFT:
                if not sessions_text.is_only_in_box(box.text, self.text, self.typing.folded):
                    return False
                self.stood = True
                if box != last:
                    moved, pressed, last = now, 0.0, box
                if now - pressed > REDRAWN and self.hand.press(self.typing.clear, seen.guard):
                    pressed = now
            time.sleep(PAUSE)
        return False
