"""Keeping a job's time where no shim does: a foreign wrapper's work, or ours after its shim was killed.

The notes are the same as the shim's. For our own jobs they are written to ``<name>.seen`` by whoever holds the
lease of the name, so that every face judges from the same ones; for a foreign directory they stay in memory.
"""

from __future__ import annotations

import contextlib
import os

from midwatch.core.job_model import Alive, Gone, JobFacts, ProgressSnapshot, ProgressSource
from midwatch.core.policy import PATIENT, Policy
from midwatch.core.verdict import Verdict
from midwatch.jobs import name_claim
from midwatch.jobs.rules import stall
from midwatch.jobs.work_files import sample_files
from midwatch.system import procfs
from midwatch.system.atomic_files import dumps, write_atomic

SCHEMA = 1


class StallTracker:
    """Keeps the time of any number of jobs in one directory, for as long as someone waits for them."""

    def __init__(self, directory: str, boot: str) -> None:
        self.directory = directory
        self.boot = boot
        self.leases: dict[str, int | None] = {}

    def note(
        self, facts: JobFacts, verdict: Verdict, before: ProgressSnapshot | None
    ) -> tuple[ProgressSnapshot, float]:
        """The notes after a look, and when to look again though nothing may wake us."""
        policy = facts.record.policy if facts.record else facts.policy or PATIENT
        seen = (
            self.begin(facts, policy)
            if facts.seen is None
            else stall.next_progress(verdict, facts.seen, policy, facts.now)
        )
        if facts.record and isinstance(facts.shim, Gone):
            seen = seen._replace(outlived=seen.outlived or isinstance(facts.work, Alive))
            if not _judges_alike(seen, before):
                self.write(facts.name, seen)
        # CPU and I/O count only once all else has been silent for half the threshold.
        half = max([source.moved for source in seen.sources.values()], default=facts.now) + policy.stale_s / 2
        return seen, max(half, facts.now + max(policy.stale_s / 10, procfs.RATE_SPAN))

    def begin(self, facts: JobFacts, policy: Policy) -> ProgressSnapshot:
        """First sight: silence is reckoned from now, for nobody knows how long it has lasted."""
        sources: procfs.Sources = {}
        adopted = facts.record.adopted if facts.record else None
        root = facts.shim if isinstance(facts.shim, Alive) and adopted is None else facts.work
        wanted = {*policy.progress} if isinstance(root, Alive) else {*policy.progress, "heartbeat"}
        procfs.update_sources(sources, sample_files(f"{self.directory}/{facts.name}", wanted, facts.record), facts.now)
        if isinstance(root, Alive):
            keeper = facts.shim.pid if isinstance(facts.shim, Alive) and adopted else 0
            cpu, io = procfs.measure_consumption(root.pid, own=True, helper=keeper, own_cpu=0.0, own_io=0.0)
            procfs.update_sources(sources, {k: v for k, v in (("cpu", cpu), ("io", io)) if k in wanted}, facts.now)
        return ProgressSnapshot(
            run=facts.record.run if facts.record else "",
            boot=self.boot,
            at=facts.now,
            stale_since=None,
            stuck=False,
            sources={name: ProgressSource(*source) for name, source in sources.items()},
        )

    def write(self, name: str, seen: ProgressSnapshot) -> None:
        base = f"{self.directory}/{name}"
        with contextlib.suppress(OSError):
            if self.leases.get(name) is None:
                self.leases[name] = name_claim.lock_name(base)
            if self.leases[name] is not None:
                write_atomic(f"{base}.seen", dumps(encode_progress(seen)) + "\n")

    def close(self) -> None:
        for lease in self.leases.values():
            if lease is not None:
                os.close(lease)


def _judges_alike(seen: ProgressSnapshot, before: ProgressSnapshot | None) -> bool:
    """Whether anyone who judges by the one would say the same by the other. Each write wakes every watcher, us too."""
    told = (seen.stale_since, seen.stuck, seen.outlived)
    if before is None or told != (before.stale_since, before.stuck, before.outlived):
        return False
    return [s.moved for s in seen.sources.values()] == [s.moved for s in before.sources.values()]


def encode_progress(seen: ProgressSnapshot) -> dict[str, object]:
    """Notes as ``<name>.seen`` holds them."""
    given = seen._asdict()
    if not seen.outlived:
        del given["outlived"]
    return {
        "schema": SCHEMA,
        **given,
        "sources": {name: source._asdict() for name, source in seen.sources.items()},
    }
