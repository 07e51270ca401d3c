"""Whether the work is there: what was said when it was started, or by whoever waits for it."""

from __future__ import annotations

from midwatch.formats import verifiers
from midwatch.judge import monitoring, spawned
from midwatch.model.facts import Record
from midwatch.model.verdict import Verdict
from midwatch.model.verifying import Verified
from midwatch.senses import verifying
from midwatch.store import places, watches


def verified(said: Verdict, given: str, cwd: str, began: float | None) -> Verdict:
    """A verdict `completed`, or that the work is not there. ``given``: the check; empty where there is none."""
    return monitoring.verified(said, verifying.verify(verifiers.parse(given), cwd, began) if given else None)


def of_record(said: Verdict, record: Record, directory: str, given: str = "") -> Verdict:
    """The same by what its record tells, unless something else is ``given``."""
    if not given and not record.verify:
        watch = watches.read(f"{directory}/{record.name}", record.run) if record.end is not None else None
        if (known := spawned.as_verified(said, watch.verdict if watch else None)) != said:
            return known
        return monitoring.verified(said, None)
    if not given and (others := places.shared_with_others(directory)):
        return monitoring.verified(said, Verified(done=False, reason=f"{others}, so what it says is not run"))
    return verified(said, given or record.verify, record.cwd, began(record))


def began(record: Record) -> float:
    """When the work began: with the first of the runs that went on with it."""
    return record.started if record.since is None else record.since
