"""What stands between an agent's pane and its prompt, and which one step may be taken about it.

Only three things are ever done: Enter for a message of ours that still stands in the box, `fg` for an agent that was
suspended in a shell, and the same conversation again where an agent has ended. All else is a person's: their own pane
and drafts, questions, limits, menus. After each step somebody looks again; only a confirmed prompt is ready.
"""

from __future__ import annotations

from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.sessions.prompting.model import UNSEEN, InputBox, PromptOutcome
from midwatch.sessions.prompting.rules import readiness
from midwatch.tmux.codec.guarded_input import PaneSnapshot

READY, PRESS, WAKE, RESUME, WAIT, REPORT = "ready", "press", "wake", "resume", "wait", "report"
PASSING = (PromptOutcome.STARTING, PromptOutcome.WORKING, PromptOutcome.UNKNOWN)
"""Reasons that pass by themselves. A person who types there does so too, but is told: it may last all day."""


class ForegroundProgram(Value):
    """What has the terminal where an agent does not."""

    command: str = ""
    """Its name."""
    prompt: bool = False
    """It is a shell at its prompt, and a line can be typed to it."""
    stopped: tuple[str, ...] = ()
    """Others than the agent that are suspended below that shell: `fg` might wake one of them."""
    owned: bool = False
    """The suspended agent is below that very shell, which therefore can wake it."""


class ExitedAgent(Value):
    """What is known of an agent that has ended."""

    agent: str = ""
    conversation: str = ""
    obstacle: str = ""
    """Why it cannot be gone on with, though its id is known."""


class RecoveryCase(Value):
    """One pane, at one moment."""

    pane: str
    snapshot: PaneSnapshot
    wall: float
    verdict: Verdict | None = None
    """None where no agent is to be seen."""
    front: bool = False
    """The agent is in the foreground of its terminal."""
    box: InputBox = InputBox(UNSEEN)
    ours: bool = False
    """What stands in the box is a message of ours, and nothing else."""
    there: ForegroundProgram = ForegroundProgram()
    left: ExitedAgent = ExitedAgent()
    unknown: str = ""
    """Why nobody can type to such an agent; empty where it is known how."""

    @property
    def gone(self) -> bool:
        """No agent is in it, or not any more."""
        verdict = self.verdict
        return self.snapshot.dead or verdict is None or (verdict.turn == "exited" and verdict.detail != "suspended")


class RecoveryStep(Value):
    what: str
    """One of the words above."""
    why: str
    outcome: str = READY
    """As of a prompt that were to be sent now."""
    detail: str = ""


def next_step(case: RecoveryCase) -> RecoveryStep:
    """What to do next, and why."""
    if readiness.has_person(case.snapshot, case.pane):
        return RecoveryStep(REPORT, "a person is in that pane", PromptOutcome.PERSON)
    if case.snapshot.dead:
        return _resume_step(case, "the pane's process has ended")
    if case.verdict is None or case.gone:
        return _exited_step(case)
    if case.verdict.turn == "exited":
        return _suspended_step(case)
    if case.unknown:
        return RecoveryStep(REPORT, case.unknown, PromptOutcome.REFUSED)
    why = readiness.find_refusal(
        case.verdict, front=case.front, snapshot=case.snapshot, box=case.box, pane=case.pane, wall=case.wall
    )
    if why is None:
        return RecoveryStep(READY, "at its prompt, and nothing stands in its box")
    if why.outcome == PromptOutcome.DRAFT and case.ours:
        return RecoveryStep(PRESS, "a message of ours stands in its box and was not sent", PromptOutcome.DRAFT)
    return RecoveryStep(WAIT if why.outcome in PASSING else REPORT, why.reason, why.outcome, why.detail)


def _suspended_step(case: RecoveryCase) -> RecoveryStep:
    if why := readiness.find_key_refusal(case.snapshot, case.pane, case.wall):
        return RecoveryStep(REPORT, f"it is suspended, and {why.reason}", why.outcome)
    if not case.there.prompt or not case.there.owned:
        what = f"{case.there.command or 'nothing'} is in front of it, not the shell that could wake it"
        return RecoveryStep(
            REPORT, f"it is suspended, and {what}; `kill -CONT` brings it back", PromptOutcome.WAITING, "suspended"
        )
    if case.there.stopped:
        others = ", ".join(case.there.stopped)
        return RecoveryStep(
            REPORT, f"it is suspended, and so is {others}: `fg` might wake that one; wake the agent there yourself",
            PromptOutcome.WAITING, "suspended",
        )  # fmt: skip
    reason = f"it is suspended, and its shell ({case.there.command}) is at its prompt"
    return RecoveryStep(WAKE, reason, PromptOutcome.WAITING, "suspended")


def _exited_step(case: RecoveryCase) -> RecoveryStep:
    if not case.left.agent:
        return RecoveryStep(REPORT, f"no agent is in it, but {case.there.command or 'nothing'}", PromptOutcome.EXITED)
    if not case.there.prompt:
        what = case.there.command or "nothing"
        return RecoveryStep(
            REPORT, f"its agent has ended, and {what} is in front, not a shell at its prompt", PromptOutcome.EXITED
        )
    if why := readiness.find_key_refusal(case.snapshot, case.pane, case.wall):
        return RecoveryStep(REPORT, f"its agent has ended, and {why.reason}", why.outcome)
    return _resume_step(case, f"its agent has ended; a shell ({case.there.command}) is at its prompt")


def _resume_step(case: RecoveryCase, what: str) -> RecoveryStep:
    left = case.left
    if left.obstacle:
        return RecoveryStep(REPORT, f"{what}; {left.obstacle}", PromptOutcome.EXITED)
    if not left.conversation:
        return RecoveryStep(
            REPORT, f"{what}; nobody knows the id of a conversation to go on with", PromptOutcome.EXITED
        )
    return RecoveryStep(RESUME, f"{what}; its conversation is {left.conversation}", PromptOutcome.EXITED)
