"""Keeping a job's time where no shim does: a foreign wrapper's work, or ours after its shim was killed.

The notes are the same as the shim's. For our own jobs they are written to ``<name>.seen`` by whoever holds the
lease of the name, so that every face judges from the same ones; for a foreign directory they stay in memory.
"""

import contextlib
import os

from dogwatch import proc
from dogwatch.judge import job
from dogwatch.lean import dumps
from dogwatch.model.facts import Alive, Gone, JobFacts, Seen, Source
from dogwatch.model.policy import Policy
from dogwatch.model.verdict import Verdict
from dogwatch.store import claims


class Keeper:
    def __init__(self, directory: str, name: str, policy: Policy, boot: str) -> None:
        self.base = f"{directory}/{name}"
        self.policy = policy
        self.boot = boot
        self.lease: int | None = None

    def note(self, facts: JobFacts, verdict: Verdict) -> tuple[Seen, float]:
        """The notes after a look, and when to look again though nothing may wake us."""
        policy = facts.record.policy if facts.record else self.policy
        seen = self.begin(facts, policy) if facts.seen is None else job.keep(verdict, facts.seen, policy, facts.now)
        if facts.record and isinstance(facts.shim, Gone):
            self.write(seen)
        return seen, facts.now + max(policy.stale_s / 10, proc.RATE_SPAN)

    def begin(self, facts: JobFacts, policy: Policy) -> Seen:
        """First sight: silence is reckoned from now, for nobody knows how long it has lasted."""
        sources: proc.Sources = {}
        proc.track(sources, proc.cheap_sample(self.base, {*policy.progress, "heartbeat"}), facts.now)
        root = facts.shim if isinstance(facts.shim, Alive) else facts.work
        if isinstance(root, Alive):
            sources.pop("heartbeat", None) if "heartbeat" not in policy.progress else None
            cpu, io = proc.consumption(root.pid, own=True, helper=0, own_cpu=0.0, own_io=0.0)
            proc.track(sources, {k: v for k, v in (("cpu", cpu), ("io", io)) if k in policy.progress}, facts.now)
        run = facts.record.run if facts.record else ""
        return Seen(run, self.boot, facts.now, None, False, {name: Source(*source) for name, source in sources.items()})

    def write(self, seen: Seen) -> None:
        with contextlib.suppress(OSError):
            if self.lease is None:
                self.lease = claims.lock(self.base)
            if self.lease is not None:
                claims.write(f"{self.base}.seen", dumps(noted(seen)) + "\n")

    def close(self) -> None:
        if self.lease is not None:
            os.close(self.lease)


def noted(seen: Seen) -> dict[str, object]:
    """Notes as ``<name>.seen`` holds them."""
    return {
        "schema": 1,
        **seen._asdict(),
        "sources": {name: source._asdict() for name, source in seen.sources.items()},
    }
