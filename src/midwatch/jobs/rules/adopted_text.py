"""Work that somebody else started: what is said of it in other words than of our own."""

from __future__ import annotations

from midwatch.core.foreign_text import escape_text
from midwatch.core.job_model import Alive, Gone, JobFacts, Record
from midwatch.core.policy import Policy
from midwatch.core.text import format_duration
from midwatch.core.verdict import Evidence, Verdict


def format_supervisor(record: Record) -> str:
    """Who keeps its time: our own work has a parent, adopted work only somebody who watches."""
    return "shim" if record.adopted is None else "keeper"


def format_start(record: Record | None) -> str:
    """What happened when its silence was first reckoned."""
    return "started" if record is None or record.adopted is None else "adopted"


def format_unseen_end(record: Record | None, gone: Gone) -> str:
    """Why nobody can say how it ended; empty where its end would have been written down by itself."""
    if record is None or record.adopted is None or record.adopted.dir:
        return ""
    return f"it ended while nobody kept watch ({gone.why}); its exit status is not known"


def adoption_evidence(record: Record) -> tuple[Evidence, ...]:
    adopted = record.adopted
    if adopted is None:
        return ()
    where = (
        f"{escape_text(adopted.name)} in {escape_text(adopted.dir)}" if adopted.dir else f"process {record.work.pid}"
    )
    manners = "the policy may end it" if adopted.stop else "left alone unless `midwatch stop` is called"
    return (Evidence("adopted", f"{where}, started by somebody else; {manners}"),)


def required_end(facts: JobFacts, verdict: Verdict, policy: Policy, timeout_at: float) -> tuple[str, str, str] | None:
    """How a policy that may end a foreign step ends it now: state, cause and reason; None while it goes on.

    What is suspended waits for a person and is never ended.
    """
    if facts.record is not None or verdict.final or facts.open_until is not None:
        return None
    if not isinstance(facts.shim, Alive) or facts.shim.suspended:
        return None
    if verdict.state == "stuck" and policy.on_stuck == "stop":
        return "stuck", "no-progress", verdict.reason
    if policy.timeout_s is not None and facts.now >= timeout_at:
        return "timeout", "timeout", f"not done {format_duration(policy.timeout_s)} after it started"
    return None
