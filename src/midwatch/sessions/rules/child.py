"""The verdicts on what an agent has begun beside its own turn: sub-agents, and shells that run its commands.

Neither has a shim, so what is not known stays unknown: a sub-agent whose last line is no end of a turn works as long as
its agent lives; once the agent is gone, nobody can tell how it ended.
"""

from __future__ import annotations

from midwatch.agents.turn_model import SubAgentReading
from midwatch.core.causes import Cause
from midwatch.core.evidence_text import SUSPENDED
from midwatch.core.foreign_text import ForeignText, shorten
from midwatch.core.pane_model import ProcessInfo
from midwatch.core.shells import SHELLS
from midwatch.core.states import VerdictState
from midwatch.core.value import Value
from midwatch.core.verdict import FINAL, Evidence, Verdict

LONGEST = 60
ENDED: dict[str, tuple[VerdictState, Cause, str]] = {
    "turn-ended": ("completed", "turn-ended", "its turn has ended"),
    "turn-failed": ("failed", "turn-failed", "its turn failed"),
    "interrupted": ("stopped", "interrupted", "it was interrupted"),
    "limit": ("limited", "limit", "it hit a limit"),
}
"""By the last event of its transcript: state, cause and reason."""


class ChildVerdict(Value):
    """One child of a session, or of a pane."""

    id: str
    """Unique among the children of one parent: `sub-agent/ID` or `shell/PID-START`."""
    verdict: Verdict
    pid: int = 0


def judge_sub_agent(reading: SubAgentReading, parent: Verdict, wall: float) -> ChildVerdict:
    """What is true of a sub-agent, whose agent is ``parent``."""
    state: VerdictState
    if reading.event in ENDED:
        state, cause, reason = ENDED[reading.event]
    elif parent.final or parent.process == "gone":
        state, cause, reason = "unknown", "exit-unseen", "its agent has ended; how it ended is not known"
    elif reading.tools:
        state, cause, reason = "working", "tool", f"a tool runs: {reading.tools}"
    else:
        state, cause, reason = "working", "model", "a turn is under way"
    said = Evidence("transcript", reading.event or "nothing yet", max(0.0, wall - reading.at))
    final = state in FINAL or (state == "unknown" and cause == "exit-unseen")
    verdict = Verdict(
        f"{parent.name}/{reading.id}", "sub-agent", state, final, reason,
        process="unknown", progress="unknown", cause=cause, evidence=(said,),
    )  # fmt: skip
    return ChildVerdict(f"sub-agent/{reading.id}", verdict)


def find_shells(tools: list[ProcessInfo]) -> list[ProcessInfo]:
    """The shells among an agent's tool processes that the agent itself has started."""
    inner = {task.pid for task in tools}
    return [task for task in tools if task.name in SHELLS and task.parent not in inner and task.letter not in "ZX"]


def judge_shell(task: ProcessInfo, parent: Verdict) -> ChildVerdict:
    """What is true of a shell of an agent. While the agent's turn goes on, it may be the tool call that is open."""
    line = ForeignText(shorten(" ".join(task.args) or task.name, LONGEST)).line()
    where = "" if parent.turn == "working" else " in the background"
    state: VerdictState
    state, cause, process = "working", "background-work" if where else "tool", "alive"
    reason = f"it runs{where}: {line}"
    if task.letter == "T":
        state, cause, process, reason = "waiting", "suspended", "suspended", f"{SUSPENDED}: {line}"
    verdict = Verdict(
        f"{parent.name}/{task.pid}", "shell", state, False, reason,
        process=process, progress="unknown", cause=cause,  # type: ignore[arg-type]  # of two words of the set
        evidence=(Evidence("process", f"{task.name} ({task.pid}), below its agent"),),
    )  # fmt: skip
    return ChildVerdict(f"shell/{task.pid}-{task.start}", verdict, task.pid)
