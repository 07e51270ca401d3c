"""Stopping a job and everything below it, and writing down that it was stopped."""

import contextlib
import os
import signal
import time

from midwatch.config import paths
from midwatch.core.errors import RefusedError
from midwatch.core.job_model import Adopted, Alive, Gone, Identity, JobFacts, Unseen
from midwatch.core.verdict import Verdict
from midwatch.jobs import foreign_step_end, monitor_store, record_end
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.shim.terminate import ENDINGS, build_end, requested_end, write_stop
from midwatch.system import processes
from midwatch.system import terminate_tree as hand

SHIM_PATIENCE = 30.0
"""Seconds that a shim may take to end its tree before we do it ourselves."""


def stop_job(looker: JobDirectory, name: str) -> Verdict:
    """Stop a job because somebody wants it to be over, whatever a monitor may be doing about it at this moment."""
    record = looker.facts(name).record
    if record is not None and record.kind == "session" and not paths.find_sharing(looker.directory):
        monitor_store.request_stop(f"{looker.directory}/{name}")
    return end_job(looker, name)


def end_job(looker: JobDirectory, name: str, run: str = "") -> Verdict:
    """End a job, or only a certain run of it; returns its final verdict. What has ended already is left as it is."""
    facts = looker.facts(name)
    if run and (facts.record is None or facts.record.run != run):
        raise RefusedError(f"{name} is being started by somebody else")
    verdict = job_verdict.judge(facts)
    if verdict.final and not facts.survivors:
        return verdict
    if others := paths.find_sharing(looker.directory):
        raise RefusedError(f"{others}: nothing named there is signalled")
    if facts.record is None or verdict.final:
        return _end_work(looker, facts, verdict)
    base = f"{looker.directory}/{name}"
    with contextlib.suppress(OSError):  # a full disk: the work is ended all the same
        write_stop(base, facts.record.run)
    try:
        return _end_work(looker, facts, verdict)
    except RefusedError:
        with contextlib.suppress(OSError):
            os.unlink(f"{base}.ending")
        raise


def _end_work(looker: JobDirectory, facts: JobFacts, verdict: Verdict) -> Verdict:
    name = facts.name
    if facts.record is not None and not verdict.final:
        by = signal.SIGTERM
        if facts.record.adopted is not None:
            _refuse_to_touch(facts.record.adopted, facts.record.work, looker)
            by = signal.SIGUSR1  # TERM would end only the supervisor
        hand.stop_by_shim(facts.record.shim, looker.place, SHIM_PATIENCE, by)
        facts = looker.facts(name)
        verdict = job_verdict.judge(facts)
        if verdict.final and not facts.survivors:
            return verdict
    if isinstance(facts.shim, Alive) and isinstance(facts.work, Gone):
        raise RefusedError(f"{name} has ended, but its shim cannot write that down yet: is the disk full or read-only?")
    if facts.record is None and isinstance(facts.shim, Alive):
        return foreign_step_end.end_step(looker, name, facts.shim.pid, ENDINGS[signal.SIGTERM])
    named = _named_processes(facts)
    gone = isinstance(facts.shim, Gone) and isinstance(facts.work, Gone)  # before we came to it
    if not named and not facts.survivors and not gone:
        raise RefusedError(f"{name} cannot be stopped from here: {verdict.reason}")
    run, spare = (facts.record.run, facts.record.spare) if facts.record else ("", ())
    left = hand.end_tree(
        lambda: named | (processes.start_times(processes.find_run_processes(run)) if run else {}), spare=spare
    )
    if left:
        raise RefusedError(f"{name} could not be ended; still there: {', '.join(map(str, left))}")
    if not verdict.final:
        asked_for = requested_end(f"{looker.directory}/{name}", run)
        elapsed = (facts.elapsed_s or 0.0) + time.monotonic() - facts.now
        end = build_end(None, 0, asked_for, elapsed, [])
        try:
            record_end.write_end(looker.directory, facts, end | {"unsupervised": True})
        except OSError as error:
            raise RefusedError(f"{name} was ended, but that could not be written down: {error.strerror}") from error
    stopped = looker.verdict(name)
    record_end.send_end(looker.directory, facts.record)
    return stopped


def _refuse_to_touch(adopted: Adopted, work: Identity, looker: JobDirectory) -> None:
    """Work that others started may be theirs alone, or be named by a directory that cannot be trusted."""
    if adopted.dir and (others := paths.find_sharing(adopted.dir)):
        raise RefusedError(f"{others}: nothing named there is signalled")
    untouchable = not hand.signal_exactly(work.pid, work.start, 0)
    if untouchable and isinstance(processes.find_process(work, looker.place), Alive):
        raise RefusedError(f"process {work.pid} may not be signalled by this user; ask its owner")


def _named_processes(facts: JobFacts) -> dict[int, int]:
    """The processes that the job's record names and that are there, with their start times."""
    if facts.record is None or isinstance(facts.shim, Unseen):  # what looks like it here is not it
        return {}
    both = ((facts.shim, facts.record.shim), (facts.work, facts.record.work))
    return {meant.pid: meant.start for process, meant in both if isinstance(process, Alive)}
