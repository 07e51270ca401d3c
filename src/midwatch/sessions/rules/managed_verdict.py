"""The verdict on a session of ours: what its shim knows of the process, and what its sources say of the turn.

The process comes first. An end that the shim has seen is the end, and nothing that is dead is working; of what lives,
the shim knows only that, and the sources tell the rest.
"""

from __future__ import annotations

import re

from midwatch.core.causes import Cause
from midwatch.core.pane_model import ProcessInfo
from midwatch.core.process_state import Exited
from midwatch.core.shells import SHELLS
from midwatch.core.states import VerdictState
from midwatch.core.value import Value
from midwatch.core.verdict import Evidence, Verdict

STARTING = 30.0
"""Seconds that an agent may take until there is something to be seen of it."""
AGAIN = 1.0
SOON = 0.2
SHELL = "shell"
"""Detail of the turn of a session that is a shell and no agent."""
COMMAND = re.compile(r"-[a-z]*c")
"""The option by which a shell is given its command."""
MIDST = ("working", "waiting", "limited")


class PaneState(Value):
    """What a look at its pane found."""

    verdict: Verdict | None = None
    """None where no agent is to be seen in it."""
    trouble: str = ""
    """Why nothing could be seen."""
    shell: str = ""
    """The shell that is the session's own work, where it waits for its next command."""


def judge(job: Verdict, glance: PaneState, last: str, now: float, closed: Verdict | None = None) -> Verdict:
    """One verdict of both. ``last`` is the turn that was last seen; empty where nobody looked.

    ``closed`` is what a monitor said of it before it closed its session: what is finished stays so.
    """
    if job.final:
        return _judge_closed(job, closed) if closed is not None and job.state == "stopped" else _judge_end(job, last)
    if job.process == "suspended" or job.state == "unknown":
        return job
    if isinstance(job.process, Exited):  # its shim is about to say how
        return job._replace(turn=last, settled=False, look_at=now + SOON)
    seen = glance.verdict
    if glance.trouble:
        return _build_live_verdict(job, "unknown", glance.trouble, now)
    if seen is None and job.progress != "unknown":
        unseen = Evidence("note", "it shows nothing of its turn: judged as a job, by its process and output")
        return job._replace(against=(*job.against, unseen))
    if seen is None and glance.shell:
        why = f"{glance.shell} is at its prompt; no agent is to be seen in it"
        return job._replace(state="idle", cause="at-prompt", reason=why, turn="idle", detail=SHELL)
    young = (job.elapsed_s or 0.0) < STARTING
    if seen is None or (young and seen.turn == "unknown" and not last):
        why = "it starts" if young else "it is alive, but not in its pane; nothing is to be seen of it"
        found = _build_live_verdict(job, "starting" if young else "unknown", why, now)
        return found if seen is None else found._replace(against=(*found.against, *seen.against))
    if seen.turn == "exited" and seen.detail != "suspended" and not glance.shell:
        return job._replace(turn=last, settled=False, look_at=now + SOON)  # its shim is about to say how
    return seen._replace(
        name=job.name, process=job.process if job.process == "unsupervised" else seen.process, log=job.log,
        elapsed_s=job.elapsed_s, evidence=(*seen.evidence, *_shim_evidence(job)),
        against=(*seen.against, *_note_evidence(job)),
    )  # fmt: skip


def apply_verification(ended: Verdict, said: Verdict | None) -> Verdict:
    """The same end, with what its last monitor has said of the work: what was not there is not completed."""
    if ended.state != "completed" or said is None or said.cause != "not-verified":
        return ended
    return ended._replace(state=said.state, cause=said.cause, reason=said.reason)


def find_idle_shell(tasks: tuple[ProcessInfo, ...]) -> str:
    """The name of a shell for people that runs nothing, given it and all below it; empty where it is none."""
    if len(tasks) != 1:
        return ""
    (task,) = tasks
    interactive = all(word.startswith("-") and not COMMAND.match(word) for word in task.args[1:])
    return task.name if task.name in SHELLS and task.foreground and task.letter == "S" and interactive else ""


def _judge_end(job: Verdict, last: str) -> Verdict:
    """How it ended; whoever leaves in the middle of a turn has not done what he was asked to."""
    if job.state == "completed" and last in MIDST:
        reason = f"{job.reason}, in the middle of a turn ({last})"
        return job._replace(state="stopped", cause="left-mid-turn", reason=reason)
    return job._replace(detail="turn-ended") if job.cause == "exit-unseen" and last == "idle" else job


def _judge_closed(job: Verdict, closed: Verdict) -> Verdict:
    reason = f"{closed.reason}; its session was closed then"
    return job._replace(state=closed.state, cause=closed.cause, reason=reason, turn=closed.turn, detail=closed.detail)


def _build_live_verdict(job: Verdict, state: VerdictState, why: str, now: float) -> Verdict:
    cause: Cause = "starting" if state == "starting" else "not-seen"
    return job._replace(state=state, cause=cause, reason=why, progress="unknown", look_at=now + AGAIN, deadline=None)


def _shim_evidence(job: Verdict) -> tuple[Evidence, ...]:
    return tuple(each for each in job.evidence if each.source in ("shim", "keeper"))


def _note_evidence(job: Verdict) -> tuple[Evidence, ...]:
    return tuple(each for each in job.against if each.source in ("note", "trouble"))
