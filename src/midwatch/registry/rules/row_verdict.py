"""The verdict on a registry row: that on the agent which it names, where one is there; else what is left of it."""

from __future__ import annotations

from midwatch.core.causes import Cause
from midwatch.core.process_state import ProcessState
from midwatch.core.states import VerdictState
from midwatch.core.verdict import FINAL, Verdict
from midwatch.registry.model import AUTO_DETECTED, RUNNING, RegistryRow


def judge_row(row: RegistryRow, agent: Verdict | None, *, gone: bool, trouble: str = "") -> Verdict:
    """``agent``: the verdict on its session or pane. ``gone``: nothing of it is there, and that is known."""
    if agent is not None:
        return agent._replace(name=row.name, kind="row")
    if row.problem:
        return _build_verdict(row, "unknown", "not-seen", row.problem)
    if not gone:
        return _build_verdict(row, "unknown", "not-seen", trouble or "no agent can be seen in its pane")
    if row.status == RUNNING:
        reason = "the registry says running, but nothing of it is there; how it ended is not known"
        return _build_verdict(row, "unknown", "exit-unseen", reason, "gone")
    if row.data.get("termination_mode") == AUTO_DETECTED:
        reason = "it was found ended; how it ended is not known"
        return _build_verdict(row, "unknown", "exit-unseen", reason, "gone")
    return _build_verdict(row, "stopped", "stop-asked", f"the registry says {row.status}", "gone")


def _build_verdict(
    row: RegistryRow, state: VerdictState, cause: Cause, reason: str, process: ProcessState = "unknown"
) -> Verdict:
    final = state in FINAL or cause == "exit-unseen"
    return Verdict(row.name, "row", state, final, reason, process=process, progress="unknown", cause=cause)
