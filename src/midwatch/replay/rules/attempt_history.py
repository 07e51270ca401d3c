"""What is known of one attempt of a job: the time that counts, its silences, the verdicts that were given of it."""

from __future__ import annotations

from midwatch.core.policy import Policy
from midwatch.core.value import Value
from midwatch.replay.model import ReplayRow, RunHappening
from midwatch.replay.rules import replay_job
from midwatch.replay.rules.replay_job import RunState

LIVE = ("started", "stale", "stuck", "moved", "suspended", "continued")


class AttemptClock(Value):
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


class ProgressSilence(Value):
    start: float
    end: float
    moved: bool
    """Something moved at its end; else the attempt, or the evidence, ended."""


class VerdictPoint(Value):
    """What holds from a moment on."""

    at: float
    said: dict[str, object]
    uncertain: str = ""


class AttemptHistory(Value):
    """One attempt, as far as its events tell."""

    story: RunState
    policy: Policy
    clock: AttemptClock
    silences: tuple[ProgressSilence, ...]
    given: tuple[VerdictPoint, ...]
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


def replay_events(story: RunState, events: list[RunHappening]) -> tuple[list[ReplayRow], RunState]:
    rows = []
    for it in events:
        story, row = replay_job.replay_event(story, it)
        if row is not None:
            rows.append(row)
    return rows, story


def read_history(story: RunState, told: list[ReplayRow], events: list[RunHappening]) -> AttemptHistory:
    assert story.policy is not None
    stop = next((it for it in events if it.event == "stopping"), None)
    last = next((it for it in events if it.end is not None), None)
    end = stop or last or events[-1]
    clock, paused = _build_clock(story.began, events, (last or events[-1]).when)
    silences, tail = _find_silences(clock, events, end, last)
    cut = stop.state if stop else "timeout" if last and last.state == "abandoned" else ""
    return AttemptHistory(
        story=story, policy=story.policy, clock=clock, silences=silences,
        given=tuple(VerdictPoint(row.at, row.given) for row in told if row.given and row.event in LIVE),
        paused=tuple((start - story.first, stop - story.first) for start, stop in paused),
        until=clock.counted(end.when), cut=cut if cut in ("stuck", "timeout") else "",
        last=told[-1] if last is not None else None, over=events[-1].when - story.first, tail=tail,
    )  # fmt: skip


def _build_clock(
    began: float, events: list[RunHappening], over: float
) -> tuple[AttemptClock, list[tuple[float, float]]]:
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
    return AttemptClock(began, tuple(sorted(gaps + paused))), paused


def _find_silences(
    clock: AttemptClock, events: list[RunHappening], end: RunHappening, last: RunHappening | None
) -> tuple[tuple[ProgressSilence, ...], float]:
    """All that is known of them, and how many seconds before the end nothing is known."""
    found: list[ProgressSilence] = []
    open_since: float | None = None
    known = 0.0
    for it in events:
        if it.since is not None and it.until is not None:
            known = clock.counted(it.until)
            found.append(ProgressSilence(known - (it.until - it.since), known, moved=True))
            open_since = None
        elif it.event in ("stale", "stuck") and it.moved:
            looked = it.when if it.judged is None else it.judged
            open_since = clock.counted(looked) - (looked - max(it.moved.values()))
    over = clock.counted(end.when)
    if open_since is None and last is not None and last.moved:
        open_since = clock.counted(last.when) - (last.when - max(last.moved.values()))
    if open_since is not None:
        return (*found, ProgressSilence(open_since, over, moved=False)), 0.0
    return tuple(found), over - known
