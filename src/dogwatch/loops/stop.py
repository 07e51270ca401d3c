"""Stopping a job and everything below it, and writing down that it was stopped."""

import json
import signal
import time

from dogwatch.ending import ENDINGS, asked, how_it_ended
from dogwatch.hands import stop as hand
from dogwatch.judge import job
from dogwatch.lean import dumps
from dogwatch.loops import step_end
from dogwatch.loops.look import Looker
from dogwatch.model.errors import RefusedError
from dogwatch.model.facts import Adopted, Alive, Gone, Identity, JobFacts, Record, Unseen
from dogwatch.model.verdict import Verdict
from dogwatch.senses import processes
from dogwatch.store import claims, places, sentinels, watches

SHIM_PATIENCE = 30.0
"""Seconds that a shim may take to end its tree before we do it ourselves."""


def stop(looker: Looker, name: str) -> Verdict:
    """Stop a job because somebody wants it to be over, whatever a monitor may be doing about it at this moment."""
    record = looker.facts(name).record
    if record is not None and record.kind == "session" and not places.shared_with_others(looker.directory):
        watches.ask_to_stop(f"{looker.directory}/{name}")
    return end(looker, name)


def end(looker: Looker, name: str, run: str = "") -> Verdict:
    """End a job, or only a certain run of it; returns its final verdict. What has ended already is left as it is."""
    facts = looker.facts(name)
    if run and (facts.record is None or facts.record.run != run):
        raise RefusedError(f"{name} is being started by somebody else")
    verdict = job.judge(facts)
    if verdict.final and not facts.survivors:
        return verdict
    if others := places.shared_with_others(looker.directory):
        raise RefusedError(f"{others}: nothing named there is signalled")
    if facts.record is not None:
        by = signal.SIGTERM
        if facts.record.adopted is not None:
            _refuse_to_touch(facts.record.adopted, facts.record.work, looker)
            by = signal.SIGUSR1  # TERM would end only the keeper
        hand.ask_shim(facts.record.shim, looker.place, SHIM_PATIENCE, by)
        facts = looker.facts(name)
        verdict = job.judge(facts)
        if verdict.final and not facts.survivors:
            return verdict
    if isinstance(facts.shim, Alive) and isinstance(facts.work, Gone):
        raise RefusedError(f"{name} has ended, but its shim cannot write that down yet: is the disk full or read-only?")
    if facts.record is None and isinstance(facts.shim, Alive):
        return step_end.end(looker, name, facts.shim.pid, ENDINGS[signal.SIGTERM])
    named = _named(facts, verdict)
    run, spare = (facts.record.run, facts.record.spare) if facts.record else ("", ())
    left = hand.end_tree(lambda: named | (processes.started(processes.of_run(run)) if run else {}), spare=spare)
    if left:
        raise RefusedError(f"{name} could not be ended; still there: {', '.join(map(str, left))}")
    if not verdict.final:
        try:
            _settle(looker, facts)
        except OSError as error:
            raise RefusedError(f"{name} was ended, but that could not be written down: {error.strerror}") from error
    stopped = looker.verdict(name)
    _tell(looker, facts.record, verdict, stopped)
    return stopped


def _tell(looker: Looker, record: Record | None, before: Verdict, after: Verdict) -> None:
    """A shim that lives has its end told itself; for one that is gone, whoever ended the rest does."""
    if record is not None and record.notify:
        from dogwatch.loops import notify  # noqa: PLC0415  # few lose their shim

        notify.changed(looker.directory, after, before, project=record.notify, about=notify.about(record))


def _refuse_to_touch(adopted: Adopted, work: Identity, looker: Looker) -> None:
    """Work that others started may be theirs alone, or be named by a directory that cannot be trusted."""
    if adopted.dir and (others := places.shared_with_others(adopted.dir)):
        raise RefusedError(f"{others}: nothing named there is signalled")
    untouchable = not hand.signal_exactly(work.pid, work.start, 0)
    if untouchable and isinstance(processes.find(work, looker.place), Alive):
        raise RefusedError(f"process {work.pid} may not be signalled by this user; ask its owner")


def _named(facts: JobFacts, verdict: Verdict) -> dict[int, int]:
    """The processes that the job's record names and that are there, with their start times."""
    found: dict[int, int] = {}
    if facts.record is not None and not isinstance(facts.shim, Unseen):  # else what looks like it here is not it
        both = ((facts.shim, facts.record.shim), (facts.work, facts.record.work))
        found = {meant.pid: meant.start for process, meant in both if isinstance(process, Alive)}
    if not found and not facts.survivors:
        raise RefusedError(f"{facts.name} cannot be stopped from here: {verdict.reason}")
    return found


def _settle(looker: Looker, facts: JobFacts) -> None:
    """Say what nobody else is left to say, so that every reader comes to an end."""
    base = f"{looker.directory}/{facts.name}"
    text = sentinels.read(f"{base}.json")
    if facts.record is not None and text is not None:
        raw = json.loads(text)
        if raw["end"] is not None:
            return  # its shim came to say it after all
        elapsed = round(facts.elapsed_s or 0.0, 3)
        end = how_it_ended(None, 0, asked(base, facts.record.run), elapsed, [])
        raw["end"] = end
        raw["states"].append([end["state"], time.time()])
        claims.write(f"{base}.json", dumps(raw) + "\n")
        if facts.record.adopted is not None:
            step_end.settle(facts.record.adopted, facts.record.work.pid)
        from dogwatch.store import journal  # noqa: PLC0415  # a shim that lives tells this itself

        journal.note(looker.directory, facts.name, facts.record.run, "ended", **end)
    claims.write(f"{base}.status", "FAILED\n")
