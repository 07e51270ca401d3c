"""Looks at the dialog that is open in one agent's pane: the verdict of all sources, and the screen of that moment."""

from __future__ import annotations

import time

from midwatch.agents.definition import Detector, is_agent
from midwatch.core.errors import RefusedError
from midwatch.core.pane_model import SourceReport
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.sessions.dialogs import choice_list, dialog_identity
from midwatch.sessions.dialogs.dialog_identity import Signature
from midwatch.sessions.dialogs.model import ChoiceList, OpenDialog
from midwatch.sessions.find_agent import FoundAgent
from midwatch.sessions.prompting.rules import readiness
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec import commands, screen_guard, sgr
from midwatch.tmux.codec.guarded_input import PaneSnapshot
from midwatch.tmux.pane_snapshot import take_snapshot

ASKING = ("waiting", "limited")
"""Turns in which a dialog may be open."""


class GoneError(RefusedError):
    """The agent or its pane is not there any more."""


class ScreenLook(Value):
    """The screen of a pane, with the choices that it shows."""

    snapshot: PaneSnapshot
    signature: Signature
    list: ChoiceList | None


class DialogLook(Value):
    """One look: the dialog, or why there is none."""

    verdict: Verdict
    screen: ScreenLook
    dialog: OpenDialog | None
    front: bool
    """The agent is in the foreground of its terminal."""


class DialogObserver:
    def __init__(self, there: FoundAgent) -> None:
        self.panes = there.panes
        self.pane = there.pane.id
        self.server = there.server
        self.socket = tmux_client.socket_path(there.server)

    def observe(self) -> DialogLook:
        """Every source, and the screen. GoneError where the agent is gone, RefusedError where nothing can be seen."""
        looked = self.panes.observe(self.pane)
        if looked.trouble:
            raise (GoneError if looked.cause == commands.ABSENT else RefusedError)(looked.trouble)
        seen = next(iter(looked.seen), None)
        if seen is None or seen.verdict.turn == "exited":
            raise GoneError(seen.verdict.reason if seen else "the agent is not in its pane any more")
        screen = self.look(self.detector)
        front = any(task.foreground and is_agent(self.detector, task) for task in seen.sighting.tasks)
        dialog = self._dialog(screen, seen.verdict, seen.sighting.reports)
        return DialogLook(seen.verdict, screen, dialog, front)

    @property
    def detector(self) -> Detector:
        return self.panes.known[self.pane].detector

    def look(self, detector: Detector, without: int = 0) -> ScreenLook:
        """The screen alone."""
        snapshot = take_snapshot(self.server, self.pane)
        if snapshot is None:
            raise GoneError("the pane is gone")
        found = choice_list.read_choices(detector, snapshot.rows)
        signature = dialog_identity.sign_dialog(detector, snapshot.rows, found, without=without)
        return ScreenLook(snapshot, signature, found if isinstance(found, ChoiceList) else None)

    def guard(self, screen: ScreenLook) -> str:
        """For the server: nothing of the pane has changed, and the dialog's rows stand where they stood."""
        assert screen.list is not None
        plain = sgr.split_styles(screen.snapshot.rows)[0]
        first, past = screen.list.shown
        order = (*screen.list.rows, *reversed(range(first, screen.list.rows[0])), *range(screen.list.rows[-1], past))
        wanted = [
            at
            for at in dict.fromkeys(order)
            if at < len(plain) and any(map(str.isalnum, plain[at])) and not self.detector.noise.search(plain[at])
        ]
        return screen_guard.guard_rows(screen.snapshot.guard, plain, tuple(wanted))

    def find_refusal(self, screen: ScreenLook, since: float | None = None) -> str:
        """Why no key may be pressed there, because of the pane or of a person; empty when one may."""
        if since is not None and readiness.last_key_time(screen.snapshot, self.pane) >= int(since):
            return "somebody has begun to type there"
        refusal = readiness.find_key_refusal(screen.snapshot, self.pane, time.time())
        return refusal.reason if refusal else ""

    def _dialog(self, screen: ScreenLook, verdict: Verdict, reports: tuple[SourceReport, ...]) -> OpenDialog | None:
        if verdict.turn not in ASKING or not any(piece.source == "screen" for piece in verdict.evidence):
            return None
        found = choice_list.read_choices(self.detector, screen.snapshot.rows)
        if verdict.turn == "limited" and not isinstance(found, ChoiceList):
            return None
        identity = dialog_identity.identify_dialog(
            self.socket, self.pane, self.panes.known[self.pane].process, screen.signature, reports
        )
        return OpenDialog(
            id=identity, agent=self.detector.agent, kind=verdict.detail,
            rows=dialog_identity.shown_rows(screen.snapshot.rows, found),
            list=screen.list, reason="" if isinstance(found, ChoiceList) else found.reason,
        )  # fmt: skip
