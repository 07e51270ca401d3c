"""Stopping a job and everything below it, and writing down that it was stopped."""

import json
import time

from dogwatch.hands import stop as hand
from dogwatch.judge import job
from dogwatch.lean import dumps
from dogwatch.loops.look import Looker
from dogwatch.model.errors import RefusedError
from dogwatch.model.facts import Alive, Gone, JobFacts, Unseen
from dogwatch.model.verdict import Verdict
from dogwatch.senses import processes
from dogwatch.store import claims, places, sentinels

SHIM_PATIENCE = 30.0
"""Seconds that a shim may take to end its tree before we do it ourselves."""


def stop(looker: Looker, name: str) -> Verdict:
    """Stop a job; returns its final verdict. One that has ended already is left as it is."""
    facts = looker.facts(name)
    verdict = job.judge(facts)
    if verdict.final and not facts.survivors:
        return verdict
    if others := places.shared_with_others(looker.directory):
        raise RefusedError(f"{others}: nothing named there is signalled")
    if facts.record is not None:
        hand.ask_shim(facts.record.shim, looker.place, SHIM_PATIENCE)
        facts = looker.facts(name)
        verdict = job.judge(facts)
        if verdict.final and not facts.survivors:
            return verdict
    if isinstance(facts.shim, Alive) and isinstance(facts.work, Gone):
        raise RefusedError(f"{name} has ended, but its shim cannot write that down yet: is the disk full or read-only?")
    named = _named(facts)
    if not named and not facts.survivors:
        raise RefusedError(f"{name} cannot be stopped from here: {verdict.reason}")
    run = facts.record.run if facts.record else ""
    left = hand.end_tree(lambda: named | (processes.started(processes.of_run(run)) if run else {}))
    if left:
        raise RefusedError(f"{name} could not be ended; still there: {', '.join(map(str, left))}")
    if not verdict.final:
        try:
            _settle(looker, facts)
        except OSError as error:
            raise RefusedError(f"{name} was ended, but that could not be written down: {error.strerror}") from error
    return looker.verdict(name)


def _named(facts: JobFacts) -> dict[int, int]:
    """The processes that the job's files name and that are there, with their start times."""
    if isinstance(facts.shim, Unseen):  # of another host or namespace: whatever looks like it here is not it
        return {}
    if facts.record is None:
        return processes.started([facts.shim.pid] if isinstance(facts.shim, Alive) else [])
    both = ((facts.shim, facts.record.shim), (facts.work, facts.record.work))
    return {meant.pid: meant.start for process, meant in both if isinstance(process, Alive)}


def _settle(looker: Looker, facts: JobFacts) -> None:
    """Say what nobody else is left to say, so that every reader comes to an end."""
    base = f"{looker.directory}/{facts.name}"
    text = sentinels.read(f"{base}.json")
    if facts.record is not None and text is not None:
        raw = json.loads(text)
        if raw["end"] is not None:
            return  # its shim came to say it after all
        elapsed = round(facts.elapsed_s or 0.0, 3)
        raw["end"] = {
            "state": "stopped", "exit_code": None, "signal": None, "reason": "stop was asked for",
            "at": time.time(), "elapsed_s": elapsed, "left": [],
        }  # fmt: skip
        raw["states"].append(["stopped", time.time()])
        claims.write(f"{base}.json", dumps(raw) + "\n")
    claims.write(f"{base}.status", "FAILED\n")
