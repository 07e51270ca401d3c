"""Recovers an agent's pane: one step at a time, each logged with why, and then a look again.

Every key goes through the guard of the look that it is meant for, by the one who holds the keyboard of that pane.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from midwatch.config import paths
from midwatch.core.errors import RefusedError
from midwatch.core.pane_model import Pane
from midwatch.core.policy import PATIENT
from midwatch.core.shells import CLEARED_BY_CTRL_L
from midwatch.jobs.job_directory import JobDirectory
from midwatch.sessions import resume
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import exited_agent, undelivered_store
from midwatch.sessions.prompting.codec import text
from midwatch.sessions.prompting.model import PromptOutcome
from midwatch.sessions.prompting.pane_lock import PaneLock, PaneLockedError
from midwatch.sessions.prompting.readiness import (
    PAUSE,
    PaneReadiness,
    Readiness,
    assess_pane,
    build_readiness,
    check_readiness,
    check_session,
    observe_settled,
)
from midwatch.sessions.prompting.rules import recovery as judging
from midwatch.sessions.prompting.rules.recovery import (
    PRESS,
    READY,
    REPORT,
    RESUME,
    WAIT,
    WAKE,
    ExitedAgent,
    RecoveryCase,
)
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec import sgr
from midwatch.tmux.pane_input import KeyTyper

__all__ = ["Readiness", "check_readiness", "check_session", "recover_pane"]

LIMIT = 60.0
"""Seconds for all steps together, and for an agent that begins."""
SOON, STARTS = 10.0, 30.0
"""Seconds until a step must have shown something, and until an agent must be there that was called."""
DROPPED = 1.0
"""Seconds after which a shell that shows nothing of a key has had it all the same."""
TRIES = 3
"""How often the server may refuse a step because something has changed."""
DOES = {
    PRESS: "pressed Enter for it",
    WAKE: "cleared the shell's line and typed fg",
    RESUME: "had its conversation resumed",
}


def recover_pane(
    panes: PaneObserver, pane: str, log: Callable[[str], None], *, limit: float = LIMIT, directory: str = "",
    stopped: Callable[[], bool] = lambda: False,
) -> Readiness:  # fmt: skip
    """Do what may be done until it is ready, a turn is under way, or a person is needed. Every step is logged."""
    recovery = _Recovery(panes, pane, log, directory)
    try:
        with PaneLock(tmux_client.socket_path(panes.tmux.server), pane):
            found = recovery.run(time.monotonic() + limit, stopped)
    except PaneLockedError as error:
        found = Readiness(pane, ready=False, outcome=PromptOutcome.PERSON, reason=str(error))
    except RefusedError as error:
        found = Readiness(pane, ready=False, outcome=PromptOutcome.UNKNOWN, reason=str(error))
    log(f"recover {pane} {'ready' if found.ready else f'not-ready ({found.outcome})'}: {found.reason}")
    return found._replace(tried=tuple(recovery.tried))


# Acting -------------------------------------------------------------------------------------------------------------


class _Recovery:
    """One pane, of which we have the keyboard."""

    def __init__(self, panes: PaneObserver, pane: str, log: Callable[[str], None], directory: str) -> None:
        self.panes = panes
        self.pane = pane
        self.log = log
        self.directory = directory or paths.sentinel_directory()
        self.hand = KeyTyper(panes.tmux.server, pane)
        self.tried: list[str] = []
        """Steps that were begun, also those that something came between."""
        self.left = ExitedAgent()
        """What was to be resumed: its last words may be gone from the screen since."""

    def run(self, until: float, stopped: Callable[[], bool]) -> Readiness:
        done: list[str] = []
        refused = 0
        waited = ""
        while True:
            found = self._recalled(observe_settled(self.panes, [self.pane], self.directory)[self.pane])
            step = found.step
            if step.what in (READY, REPORT) or step.outcome == PromptOutcome.WORKING or stopped():
                return build_readiness(self.pane, found)
            if step.what == WAIT:
                if time.monotonic() >= until:
                    return build_readiness(self.pane, found)
                if step.why != waited:
                    self.log(f"recover {self.pane} wait: {step.why}")
                    waited = step.why
                time.sleep(PAUSE)
                continue
            if step.what in done or refused >= TRIES or time.monotonic() >= until:
                tried = f"; we {DOES[step.what]}, and it did not help" if step.what in done else ""
                return build_readiness(self.pane, found)._replace(reason=step.why + tried)
            self.log(f"recover {self.pane} {step.what}: {step.why}")
            self.tried.append(step.what)
            if self._does(found):
                done.append(step.what)
            else:
                refused += 1
                self.log(f"recover {self.pane} {step.what} put off: something changed there just then")

    def _recalled(self, found: PaneReadiness) -> PaneReadiness:
        if found.case is None or not found.case.gone or not self.left.conversation:
            return found
        case = found.case._replace(left=self.left)
        return found._replace(case=case, step=judging.next_step(case), agent=self.left.agent)

    def _does(self, found: PaneReadiness) -> bool:
        """Whether a step was taken; False where the pane was no longer what was seen."""
        assert found.case is not None
        assert found.pane is not None
        match found.step.what:
            case "press":
                return self._submit(found, found.case)
            case "wake":
                return self._wake(found)
            case _ if found.case.snapshot.dead:
                return self._respawn(found.pane, found.case.left)
            case _:
                self.left = found.case.left
                return self._type_resume(found)

    def _look(self) -> PaneReadiness:
        return assess_pane(self.panes, self.panes.observe(self.pane), self.pane, self.directory)

    def _until(self, limit: float, holds: Callable[[PaneReadiness], bool]) -> PaneReadiness:
        """Look until something is so, or the time is over; the last look."""
        over = time.monotonic() + limit
        while not holds(found := self._look()) and time.monotonic() < over:
            time.sleep(PAUSE)
        return found

    def _submit(self, found: PaneReadiness, case: RecoveryCase) -> bool:
        if not self.hand.press((found.submit,), case.snapshot.guard):
            return False
        after = self._until(SOON, lambda now: now.draft != found.draft)
        if after.draft != found.draft:
            undelivered_store.remove_notes(tmux_client.socket_path(self.panes.tmux.server), self.pane, found.draft)
        return True

    def _wake(self, found: PaneReadiness) -> bool:
        """The line is cleared first: whatever stands there would be run with `fg` behind it."""
        now = self._cleared(found)
        if now is None or now.case is None or not self.hand.press(("f", "g", "Enter"), now.case.snapshot.guard):
            return False
        self._until(SOON, lambda now: now.step.detail != "suspended")
        return True

    def _type_resume(self, found: PaneReadiness) -> bool:
        now = self._emptied(found)
        if now is None or now.case is None or now.pane is None or found.case is None:
            return False
        line = exited_agent.resume_line(self.panes, now.pane, found.case.left)
        if not self.hand.paste(line, now.case.snapshot.guard):
            return False
        self.log(f"recover {self.pane} types: {line}")
        signs = text.visible_characters(line)
        if not self._entered(found, now, signs):
            raise RefusedError(
                f"the line {line!r} was typed to its shell, but not run: something came between; see there"
            )
        self._until(
            STARTS, lambda now: now.step.outcome != PromptOutcome.EXITED and not _situation(now).endswith(signs)
        )
        return True

    def _emptied(self, found: PaneReadiness) -> PaneReadiness | None:
        """After Ctrl-C and Ctrl-L: what the last agent has left on the screen looks like the box of the next one."""
        now = self._cleared(found)
        if now is None or now.case is None or now.case.there.command not in CLEARED_BY_CTRL_L:
            return now
        return now if self.hand.press(("C-l",), now.case.snapshot.guard) and (now := self._after(found, now)) else None

    def _entered(self, found: PaneReadiness, before: PaneReadiness, line: str) -> bool:
        """Enter, once the line stands at the shell's prompt; the agent's last words may have been the same."""
        was, over = _situation(before).count(line), time.monotonic() + SOON
        while time.monotonic() < over:
            now = self._look()
            shown = _situation(now)
            there = (shown.endswith(line) or shown.count(line) > was) and _may_continue(found, now)
            if there and now.case and self.hand.press(("Enter",), now.case.snapshot.guard):
                return True
            time.sleep(PAUSE)
        return False

    def _cleared(self, found: PaneReadiness) -> PaneReadiness | None:
        """After Ctrl-C at the shell's prompt; None where it is no longer as it was."""
        assert found.case is not None
        return self._after(found, found) if self.hand.press(("C-c",), found.case.snapshot.guard) else None

    def _after(self, found: PaneReadiness, before: PaneReadiness) -> PaneReadiness | None:
        """Once the screen shows that a key was pressed, or had its time; None where the step may not go on."""
        assert before.case is not None
        rows = before.case.snapshot.rows
        self._until(DROPPED, lambda now: now.case is not None and now.case.snapshot.rows != rows)
        after = self._until(DROPPED, lambda now: _may_continue(found, now))
        return after if _may_continue(found, after) else None

    def _respawn(self, pane: Pane, left: ExitedAgent) -> bool:
        record = exited_agent.find_record(pane, self.directory)
        if record is None:
            return False
        agent = exited_agent.find_detector(self.panes, left.agent)
        resume.resume_session(JobDirectory(self.directory, PATIENT), record, agent, since=record.started)
        self._until(STARTS, lambda now: now.step.outcome != PromptOutcome.EXITED)
        return True


def _may_continue(before: PaneReadiness, now: PaneReadiness) -> bool:
    """Whether the same step may go on. What the agent left was known before; our own keys have changed the screen."""
    if before.case is None or now.case is None:
        return False
    return judging.next_step(now.case._replace(left=before.case.left)).what == before.step.what


def _situation(found: PaneReadiness) -> str:
    return text.visible_characters("".join(sgr.split_styles(found.case.snapshot.rows)[0])) if found.case else ""
