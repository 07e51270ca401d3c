"""Resuming a crashed agent in a pane that Midwatch did not open, by its conversation, in its own shell at rest.

Nothing is ended there, and nothing is typed but the one line that starts the agent again and then a prompt to go on.
What forbids it is what forbids `midwatch ready --recover`: a person in the pane, another program in front, a
conversation that nobody knows or that another process has open.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from midwatch.core.verdict import Verdict
from midwatch.sessions.limit_wait import READY
from midwatch.sessions.prompting import recover, send
from midwatch.sessions.prompting.model import PromptOutcome
from midwatch.sessions.prompting.rules.recovery import RESUME
from midwatch.sessions.resume import GO_ON
from midwatch.sessions.targets import ForeignPane

RESTS = 35.0
"""Seconds to wait for a shell to be at rest: a person's last key counts for 30 s."""


def announce(said: Verdict, number: int, total: int) -> Verdict:
    """What is said of a crash that is about to be mended."""
    return said._replace(final=False, reason=f"{said.reason}; resuming it in its shell ({number} of {total})")


def resume_in_shell(subject: ForeignPane, said: Verdict, stopped: Callable[[], bool]) -> Verdict | None:
    """Bring the agent back and tell it to go on. None where it is at work again; else its crash, and why it is not."""
    why = _resume(subject, stopped)
    return said._replace(reason=f"{said.reason}; not resumed: {why}") if why else None


def _resume(subject: ForeignPane, stopped: Callable[[], bool]) -> str:
    steps: list[str] = []
    until = time.monotonic() + RESTS
    while True:
        ready = recover.recover_pane(
            subject.panes, subject.pane.id, steps.append, directory=subject.directory, stopped=stopped
        )
        waits = ready.outcome == PromptOutcome.PERSON and RESUME not in ready.tried
        if stopped() or not waits or time.monotonic() >= until:
            break
        time.sleep(1.0)
    if RESUME not in ready.tried or not ready.ready:
        return ready.reason
    sent = send.send_prompt(subject.panes, subject.pane.id, GO_ON, until=time.monotonic() + READY, stopped=stopped)
    if sent.submitted or sent.outcome == PromptOutcome.WORKING or stopped():
        return ""
    return f"it was started again, but could not be told to go on: {sent.reason}"
