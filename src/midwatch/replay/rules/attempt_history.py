"""What is known of one attempt of a job: the time that counts, its silences, the verdicts that were given of it."""

from __future__ import annotations

from midwatch.core.policy import Policy
from midwatch.core.value import Value
from midwatch.replay.model import Happened, ReplayRow
from midwatch.replay.rules import replay_job
from midwatch.replay.rules.replay_job import RunState

LIVE = ("started", "stale", "stuck", "moved", "suspended", "continued")


class Clock(Value):
    """Time that counts, in seconds since the attempt began, and the moments that it stands for."""

    began: float
    gaps: tuple[tuple[float, float], ...]

    def counted(self, moment: float) -> float:
        return moment - self.began - sum(min(end, moment) - start for start, end in self.gaps if start < moment)

    def moment(self, counted: float) -> float:
        found = self.began + counted
        for start, end in self.gaps:
            found += end - start if start < found else 0.0
        return found


class Silence(Value):
    start: float
    end: float
    moved: bool
    """Something moved at its end; else the attempt, or the evidence, ended."""


class Point(Value):
    """What holds from a moment on."""

    at: float
    said: dict[str, object]
    uncertain: str = ""


class Past(Value):
    """One attempt, as far as its events tell."""

    story: RunState
    policy: Policy
    clock: Clock
    silences: tuple[Silence, ...]
    given: tuple[Point, ...]
    """Verdicts, in seconds since the run began."""
    paused: tuple[tuple[float, float], ...]
    until: float
    """Counted seconds up to which the work was left alone."""
    cut: str
    """The state for which its own policy ended it."""
    last: ReplayRow | None
    """Its end."""
    over: float
    """Seconds since the run began at which the evidence ends."""
    tail: float
    """Counted seconds before its end of which nobody knows whether it moved."""

    def since_start(self, counted: float) -> float:
        """Seconds since the run began."""
        return self.clock.moment(counted) - self.story.first


def told(story: RunState, events: list[Happened]) -> tuple[list[ReplayRow], RunState]:
    rows = []
    for it in events:
        story, row = replay_job.step(story, it)
        if row is not None:
            rows.append(row)
    return rows, story


def read(story: RunState, told: list[ReplayRow], events: list[Happened]) -> Past:
    assert story.policy is not None
    stop = next((it for it in events if it.event == "stopping"), None)
    last = next((it for it in events if it.end is not None), None)
    end = stop or last or events[-1]
    clock, paused = _clock(story.began, events, (last or events[-1]).when)
    silences, tail = _silences(clock, events, end, last)
    cut = stop.state if stop else "timeout" if last and last.state == "abandoned" else ""
    return Past(
        story=story, policy=story.policy, clock=clock, silences=silences,
        given=tuple(Point(row.at, row.given) for row in told if row.given and row.event in LIVE),
        paused=tuple((start - story.first, stop - story.first) for start, stop in paused),
        until=clock.counted(end.when), cut=cut if cut in ("stuck", "timeout") else "",
        last=told[-1] if last is not None else None, over=events[-1].when - story.first, tail=tail,
    )  # fmt: skip


def _clock(began: float, events: list[Happened], over: float) -> tuple[Clock, list[tuple[float, float]]]:
    """The clock of an attempt, and when it was suspended."""
    gaps: list[tuple[float, float]] = []
    paused: list[tuple[float, float]] = []
    since: float | None = None
    for it in events:
        if it.event == "suspended":
            since = it.when
        elif it.event == "continued" and since is not None:
            paused.append((since, it.when))
            since = None
        elif it.event == "lost" and since is None:
            gaps.append((it.when - it.seconds, it.when))
    if since is not None:
        paused.append((since, over))
    return Clock(began, tuple(sorted(gaps + paused))), paused


def _silences(
    clock: Clock, events: list[Happened], end: Happened, last: Happened | None
) -> tuple[tuple[Silence, ...], float]:
    """All that is known of them, and how many seconds before the end nothing is known."""
    found: list[Silence] = []
    open_since: float | None = None
    known = 0.0
    for it in events:
        if it.since is not None and it.until is not None:
            known = clock.counted(it.until)
            found.append(Silence(known - (it.until - it.since), known, moved=True))
            open_since = None
        elif it.event in ("stale", "stuck") and it.moved:
            looked = it.when if it.judged is None else it.judged
            open_since = clock.counted(looked) - (looked - max(it.moved.values()))
    over = clock.counted(end.when)
    if open_since is None and last is not None and last.moved:
        open_since = clock.counted(last.when) - (last.when - max(last.moved.values()))
    if open_since is not None:
        return (*found, Silence(open_since, over, moved=False)), 0.0
    return tuple(found), over - known
