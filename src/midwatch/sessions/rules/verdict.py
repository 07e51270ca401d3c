"""The verdict on one session: a coding agent in a pane.

The turn is fused from every source (`agents.rules`). A change that only the screen shows must last before it counts,
because screens are redrawn in steps. While the turn is `working`, silence is measured as for a job: alive is not
advancing, models think in silence, and only what every source confirms through the grace period is `stuck`.
"""

from __future__ import annotations

from midwatch.agents.rules import Turn, fuse_sources
from midwatch.agents.turn_model import Departure, SessionFacts, SessionMemory, SourceReading, TrackedValue
from midwatch.core import stuck
from midwatch.core.causes import OF_DETAIL, WAITS_FOR, Cause
from midwatch.core.evidence_text import SUSPENDED
from midwatch.core.exhaustive import assert_never
from midwatch.core.foreign_text import ForeignText
from midwatch.core.pane_model import REPORTS
from midwatch.core.policy import Policy
from midwatch.core.process_state import ProcessState
from midwatch.core.redaction import redact
from midwatch.core.states import VerdictState
from midwatch.core.stuck import Patience, Suspicion, WatchedSource
from midwatch.core.text import format_duration
from midwatch.core.turn_state import (
    Departed,
    Idle,
    Limited,
    Suspended,
    Unread,
    Waiting,
    Working,
    read_turn,
)
from midwatch.core.verdict import Evidence, Verdict
from midwatch.sessions.rules import agent_exit, statusline_gate

CONFIRM = {"idle": 1.0, "unknown": 3.0}
"""Seconds that a change must last which only the screen has seen, and only by what is not there any more.

A dialog, a limit or a running status row is there to be seen; a screen that is being redrawn shows none of them.
"""
PROCESSES: dict[str, ProcessState] = {"alive": "alive", "suspended": "suspended", "gone": "gone"}
"""By the state of its presence."""
CPU_RATE, IO_RATE = 0.02, 65536.0
"""Share of a core and bytes per second from which on tools count as moving."""
RATE_SPAN = 1.0
FROZEN = 90.0
"""Seconds in which nothing moves that did move in this turn, spinners and clocks included."""
LAST_WORDS = 1.0
"""Seconds after its end in which an agent's last words may still come to the screen."""
UNWATCHED = 10.0
"""Seconds between two looks beyond which nobody watched: that time is nobody's silence."""


def judge(facts: SessionFacts, memory: SessionMemory | None, policy: Policy) -> tuple[Verdict, SessionMemory]:
    """What is true of a session, and what to remember for the next look."""
    memory = _shift_after_sleep(memory, facts.now)
    sayings = _source_times(facts, memory)
    turn = fuse_sources(facts.said, facts.there, {source: since for source, (_, since) in sayings.items()}, facts.wall)
    turn, pending = _delay_screen_change(turn, facts, memory)
    fresh = memory is None or memory.turn != turn.turn
    since = facts.now if memory is None or fresh else memory.since
    moved, tools = _update_movement(facts, memory, fresh=fresh)
    gone = turn.turn == "exited" and turn.detail != "suspended"
    left = agent_exit.merge_departures(facts, memory) if gone else Departure()
    kept = SessionMemory(
        turn.turn, turn.detail, since, pending, sayings, moved, tools,
        None if memory is None or fresh else memory.stale_since, turn.until.raw, facts.now,
        limit=_last_limit(turn, memory),
        clock=statusline_gate.latest_clock(memory.clock if memory else None, facts.life.get("clock"), facts.now),
        left=left,
    )  # fmt: skip
    verdict = _build_verdict(facts, turn, since, watched=memory is not None)
    if gone:
        return _judge_end(verdict, facts, left, since), kept
    if turn.turn == "working" and memory is not None:
        verdict, kept = _judge_progress(verdict, kept, facts, policy)
    return verdict, kept


def _last_limit(turn: Turn, memory: SessionMemory | None) -> tuple[str, float] | None:
    """The limit that was last told. Work ends it: the same words mean another day when they come again."""
    if turn.ends is not None:
        return turn.until.raw, turn.ends
    return memory.limit if memory is not None and turn.turn != "working" else None


def _shift_after_sleep(memory: SessionMemory | None, now: float) -> SessionMemory | None:
    """The memory of a watcher that slept or was stopped: every moment that silence is reckoned from moves along."""
    gap = 0.0 if memory is None else now - memory.looked - UNWATCHED
    if memory is None or gap <= 0:
        return memory
    cpu, io, taken, last = memory.tools
    return memory._replace(
        since=memory.since + gap, tools=(cpu, io, taken + gap, last + gap),
        moved={name: moved._replace(at=moved.at + gap) for name, moved in memory.moved.items()},
        stale_since=stuck.shift_moment(memory.stale_since, gap),
        clock=None if memory.clock is None else (memory.clock[0], memory.clock[1] + gap),
    )  # fmt: skip


def _source_times(facts: SessionFacts, memory: SessionMemory | None) -> dict[str, tuple[str, float]]:
    before = memory.sayings if memory else {}
    found: dict[str, tuple[str, float]] = {}
    for said in facts.said:
        old = before.get(said.source)
        found[said.source] = old if old is not None and old[0] == said.turn else (said.turn, facts.wall)
    if memory is None:
        return {}  # nobody saw when any of this began
    return found


def _delay_screen_change(
    turn: Turn, facts: SessionFacts, memory: SessionMemory | None
) -> tuple[Turn, tuple[str, float] | None]:
    """A change that only the screen tells is kept back until it has lasted; what it was is said meanwhile."""
    if memory is None or memory.turn in (turn.turn, "unknown") or turn.turn not in CONFIRM:
        return turn, None
    if turn.source not in ("screen", "title") and turn.rule != "nothing-said":
        return turn, None
    agreed = sum(said.turn == turn.turn for said in facts.said) > 1
    since = memory.pending[1] if memory.pending and memory.pending[0] == turn.turn else facts.now
    if agreed or facts.now - since >= CONFIRM[turn.turn]:
        return turn, None
    held = turn._replace(turn=memory.turn, detail=memory.detail, rule=f"{turn.rule} (not yet)")
    held = held._replace(until=ForeignText(memory.until))
    return held, (turn.turn, since)


def _update_movement(
    facts: SessionFacts, memory: SessionMemory | None, *, fresh: bool
) -> tuple[dict[str, TrackedValue], tuple[float, float, float, float]]:
    before = memory.moved if memory else {}
    found: dict[str, TrackedValue] = {}
    for kind, values in (("progress", facts.progress), ("life", facts.life)):
        for name, value in values.items():
            key = f"{kind} {name}"
            old = before.get(key)
            if old is None or fresh:
                found[key] = TrackedValue(value, facts.now)
            else:
                found[key] = old if old.value == value else TrackedValue(value, facts.now, ever=True)
    cpu, io = facts.tool_cpu_s, facts.tool_io
    if memory is None:
        return found, (cpu, io, facts.now, facts.now)
    old_cpu, old_io, taken, last = memory.tools
    span = facts.now - taken
    if span < RATE_SPAN and cpu >= old_cpu:
        return found, memory.tools
    busy = cpu - old_cpu >= CPU_RATE * span or io - old_io >= IO_RATE * span
    return found, (cpu, io, facts.now, facts.now if busy or fresh else last)


def build_patience(policy: Policy) -> Patience:
    """When silence of a turn counts."""
    return Patience(policy.stale_s, policy.grace_s, stuck.QUIET_AFTER, FROZEN)


def _judge_progress(
    verdict: Verdict, memory: SessionMemory, facts: SessionFacts, policy: Policy
) -> tuple[Verdict, SessionMemory]:
    now, patience, before = facts.now, build_patience(policy), Suspicion(memory.stale_since)
    sources = (
        WatchedSource("turn", memory.since, observed=False),
        WatchedSource("tools", memory.tools[3], observed=False),
        *(
            WatchedSource(name.split(" ", 1)[1], moved.at, progress=name.startswith("progress"), observed=moved.ever)
            for name, moved in memory.moved.items()
        ),
    )
    suspected = stuck.assess(sources, patience, before, now).suspected
    suspicion = before.next(now, patience.grace_s, suspected=suspected)
    silence = stuck.assess(sources, patience, suspicion, now, *statusline_gate.find_vetoes(memory.clock, policy))
    verdict = stuck.apply_silence(verdict, silence, now)
    verdict = verdict._replace(evidence=(*verdict.evidence, *stuck.movement_evidence(sources, now)))
    memory = memory._replace(stale_since=suspicion.since)
    if not suspected:
        return verdict._replace(deadline=None), memory  # models think in silence: only a suspicion is worth telling
    what = f"no progress for {format_duration(silence.lasted)}"
    if silence.progress == "frozen":
        what = f"nothing on its screen moves, for {format_duration(silence.still)}"
    if facts.tool:
        what = f"{what}; the open tool call is {facts.tool.line()}"
    if silence.stuck:
        return verdict._replace(reason=f"{what} (grace {format_duration(policy.grace_s)} over)"), memory
    if silence.cause == "clock-advances" and memory.clock is not None:
        return verdict._replace(reason=f"{what}, but its clock goes on ({memory.clock[0]})"), memory
    return verdict._replace(reason=f"{what}; {silence.outlook}"), memory


def _judge_end(verdict: Verdict, facts: SessionFacts, left: Departure, since: float) -> Verdict:
    """Of what its screen may still tell more in a moment, nothing is settled before that."""
    ending = agent_exit.judge_exit(facts, left)
    settled = ending.sure or facts.now >= since + LAST_WORDS
    found = agent_exit.apply_exit(verdict, ending, left.after)
    return found._replace(settled=settled, look_at=None if settled else since + LAST_WORDS)


# Words ------------------------------------------------------------------------------------------------------------


def _build_verdict(facts: SessionFacts, turn: Turn, since: float, *, watched: bool) -> Verdict:
    turn = turn._replace(text=ForeignText(redact(turn.text.raw)))
    state, cause, reason, process = _judge_state(facts, turn)
    agreed = tuple(_source_evidence(said, facts.wall) for said in turn.agree)
    there = Evidence("process", facts.there.why)
    notes = tuple(Evidence("note", note) for note in facts.notes)
    return Verdict(
        name=facts.name, kind="session", state=state, final=False, reason=reason,
        process=process, progress="unknown", cause=cause, turn_s=max(0.0, facts.now - since) if watched else None,
        turn=turn.turn, detail=turn.detail, until=turn.until, ends=turn.ends, message=turn.text,
        elapsed_s=None if facts.started is None else max(0.0, facts.wall - facts.started),
        evidence=(*agreed, there), against=(*(_source_evidence(said, facts.wall) for said in turn.against), *notes),
        doubts=facts.doubts,
    )  # fmt: skip


def _source_evidence(said: SourceReading, wall: float) -> Evidence:
    """What a source says; with its age where that is a moment at which the agent itself spoke."""
    age = max(0.0, wall - said.at) if said.source == REPORTS and said.at is not None else None
    return Evidence(said.source, f"{_format_source(said)}{'' if age is None else ','}", age)


def _format_source(said: SourceReading) -> str:
    words = f"{said.turn} ({said.detail})" if said.detail else said.turn
    until = f" until {said.until.line()}" if said.until else ""
    return f"{words}{until}, by rule {said.rule}"


def _judge_state(facts: SessionFacts, turn: Turn) -> tuple[VerdictState, Cause, str, ProcessState]:
    """State, cause, reason and process."""
    cause = OF_DETAIL.get(turn.detail, "")
    process: ProcessState = PROCESSES.get(facts.there.state, "unknown")
    match read_turn(turn.turn, turn.detail, turn.until, turn.ends):
        case Working(doing=doing):
            what = {"tool": "a tool runs", "model": "the model answers", "retrying": "it tries again after an error"}
            return "working", cause, what.get(doing, "a turn is under way"), process
        case Waiting(reason=wanted):
            asked = f": {turn.text.line()}" if turn.text else ""
            return "waiting", cause or "dialog", f"it waits for {WAITS_FOR.get(wanted, 'a person')}{asked}", process
        case Limited(until=until):
            return "limited", "limit", f"it hit a limit{f', until {until.line()}' if until else ''}", process
        case Idle(after=after):
            words = {
                "turn-ended": "its turn has ended",
                "interrupted": "it was interrupted",
                "turn-failed": "its turn failed",
                "background-work": "its turn has ended, background work runs",
                "limit-over": "its limit is over, and it has not continued",
            }
            said = f"{words.get(after, 'at its prompt')}{f': {turn.text.line()}' if turn.text else ''}"
            return "waiting" if after == "interrupted" else "idle", cause or "at-prompt", said, process
        case Suspended():
            return "waiting", cause, SUSPENDED, process
        case Departed() | Unread():  # of one that is gone the end is judged apart
            return "unknown", "not-seen", "no source says what it does", process
        case other:
            return assert_never(other)
