"""Which workers a controller should hear of: those that have come to rest and do not tell it themselves.

Whoever crashed, got stuck, hit a limit or waits for a person cannot. Whoever is idle has usually told already, so it
gets a while for that; and if the controller has begun a turn about then or since, it had its chance to look.
"""

from __future__ import annotations

from midwatch.core.verdict import Verdict
from midwatch.swarm.model import SessionSnapshot, Workers

ENDED = "ended"
"""Of an agent that is gone: nothing tells how it ended."""
GRACE, PING = 120.0, 60.0
"""Seconds that a worker is idle before it is told of, and by which its own ping may come before it is idle."""
WORDS = {"idle": "is idle", "stuck": "is stuck", "limited": "hit a limit", "waiting": "waits for a person",
         "crashed": "crashed", "stopped": "has ended", "failed": "failed",
         ENDED: "ended, how is not known"}  # fmt: skip
"""States of a worker that are told, with words for them. Not `unknown` or `starting`: nobody can act upon that."""
OTHERWISE = {"working": "is working", "starting": "is starting"}
"""Words for states that are no news."""
LOST = ("crashed", "failed", ENDED)
"""States of a worker that is lost with its work: it did not end on purpose."""
GONE = ("crashed", "stopped", "failed", ENDED)
FREE = ("idle", *GONE)
"""States in which it could be given something, if need be once it is brought back."""


def worker_state(verdict: Verdict) -> str:
    """The state of an agent. How one ended that has just gone, its next look may tell better: until then, nothing."""
    if not verdict.final:
        return verdict.state
    return "unknown" if not verdict.settled else ENDED if verdict.state == "unknown" else verdict.state


def update_workers(sight: SessionSnapshot, before: Workers, *, now: float) -> Workers:
    """What to remember after a look."""
    if not sight.seen:
        return before
    since = {}
    for worker in sight.workers:
        old = before.since.get(worker.pane)
        lasts = old is not None and (old[0], old[1]) == (worker.agent, worker.state)
        since[worker.pane] = old if old is not None and lasts else (worker.agent, worker.state, now)
    gone = [f"{pane} ({agent}) is gone" for pane, (agent, _, _) in before.since.items()
            if pane not in since and pane != sight.controller]  # fmt: skip
    busy = sight.state == "working"
    turn = now if busy and not before.busy else before.turn
    return Workers(since, (*before.gone, *[each for each in gone if each not in before.gone]), turn, busy)


def format_idle(crew: Workers, *, now: float) -> tuple[str, ...]:
    """The workers to be told of, in words."""
    found = [
        _format_worker(pane, agent, state)
        for pane, (agent, state, since) in crew.since.items()
        if state in WORDS and (state != "idle" or (now - since >= GRACE and not _has_changed(crew, since)))
    ]
    return (*found, *crew.gone)


def format_lost(crew: Workers) -> tuple[str, ...]:
    """Those of them that are lost with their work, in the same words."""
    found = [_format_worker(pane, agent, state) for pane, (agent, state, _) in crew.since.items() if state in LOST]
    return (*found, *crew.gone)


def format_all(crew: Workers) -> tuple[str, ...]:
    """All workers in words, whatever they do: for a controller that may know none of them."""
    return (*[_format_worker(pane, agent, state) for pane, (agent, state, _) in crew.since.items()], *crew.gone)


def _format_worker(pane: str, agent: str, state: str) -> str:
    return f"{pane} ({agent}) {WORDS.get(state) or OTHERWISE.get(state, 'is in an unknown state')}"


def _has_changed(crew: Workers, since: float) -> bool:
    return crew.turn is not None and crew.turn >= since - PING


def has_free_worker(crew: Workers) -> bool:
    return not crew.since or any(state in FREE for _, state, _ in crew.since.values())


def has_busy_worker(crew: Workers) -> bool:
    return any(state in ("working", "starting") for _, state, _ in crew.since.values())
