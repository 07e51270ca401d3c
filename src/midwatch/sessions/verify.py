"""Whether the work is there: what was said when it was started, or by whoever waits for it."""

from __future__ import annotations

from midwatch.config import paths
from midwatch.core.job_model import Record
from midwatch.core.verdict import Verdict
from midwatch.jobs import monitor_store
from midwatch.sessions.rules import managed_verdict, monitor
from midwatch.verification import checks
from midwatch.verification import codec as verification_codec
from midwatch.verification.model import VerificationResult


def verify_verdict(said: Verdict, given: str, cwd: str, began: float | None) -> Verdict:
    """A verdict `completed`, or that the work is not there. ``given``: the check; empty where there is none."""
    return monitor.apply_verification(
        said, checks.run_check(verification_codec.parse_check(given), cwd, began) if given else None
    )


def verify_by_record(said: Verdict, record: Record, directory: str, given: str = "") -> Verdict:
    """The same by what its record tells, unless something else is ``given``."""
    if not given and not record.verify:
        watch = monitor_store.read_state(f"{directory}/{record.name}", record.run) if record.end is not None else None
        if (known := managed_verdict.apply_verification(said, watch.verdict if watch else None)) != said:
            return known
        return monitor.apply_verification(said, None)
    if not given and (others := paths.find_sharing(directory)):
        return monitor.apply_verification(
            said, VerificationResult(done=False, reason=f"{others}, so what it says is not run")
        )
    return verify_verdict(said, given or record.verify, record.cwd, find_start_time(record))


def find_start_time(record: Record) -> float:
    """When the work began: with the first of the runs that went on with it."""
    return record.started if record.since is None else record.since
