"""When silence means `stuck`: one rule for jobs, sessions and task directories, as they happen and in replay.

The caller names the sources that it watches, its thresholds and its vetoes. Only progress ends a silence. A silence
that reaches a threshold is a suspicion; a later look at the end of the grace period makes it `stuck`. The look that
begins a suspicion never does. `docs/reference/states.md` has the parameters of each caller.
"""

from __future__ import annotations

from midwatch.core.causes import Cause
from midwatch.core.evidence_text import format_source
from midwatch.core.job_model import ProgressSource
from midwatch.core.text import format_duration
from midwatch.core.value import Value
from midwatch.core.verdict import Evidence, Verdict

QUIET_AFTER = 60.0
"""Seconds without progress after which work is no longer called advancing."""
SUSPECTED = ("stalled", "frozen")


class Patience(Value):
    """Thresholds, in seconds."""

    stale_s: float
    """Without progress, until the work is suspected: `stalled`."""
    grace_s: float
    """Of a suspicion, until it is `stuck`."""
    quiet_s: float
    """Without progress, until the work is `quiet`."""
    frozen_s: float = float("inf")
    """Without any movement, signs of life included, until the work is suspected: `frozen`."""

    @property
    def stuck_s(self) -> float:
        """Of silence, until the work is stuck."""
        return self.stale_s + self.grace_s


class WatchedSource(Value):
    """Something that moves while the work goes on."""

    name: str
    moved: float
    """When it last moved, or else the moment from which its silence counts (monotonic)."""
    progress: bool = True
    """False for a sign of life, which may move although the work hangs."""
    observed: bool = True
    """It was seen to move. What was never seen to move may not be able to, so that it stands still tells nothing."""


class Suspicion(Value):
    """What the looks before have noted."""

    since: float | None = None
    confirmed: bool = False
    """A look at the end of the grace period found the same silence."""

    def next(self, now: float, grace_s: float, *, suspected: bool) -> Suspicion:
        """What is noted after a look that found the work suspected, or not."""
        if not suspected or self.since is None:
            return Suspicion(now if suspected else None)
        return Suspicion(self.since, now >= self.since + grace_s)


class Veto(Value):
    """What forbids the word for a time."""

    cause: Cause
    until: float


class Silence(Value):
    """What the silence of all sources comes to."""

    progress: str
    """`advancing`, `quiet`, `stalled` or `frozen`."""
    lasted: float
    """Seconds without progress."""
    still: float
    """Seconds without any movement that was observed."""
    look_at: float | None
    """When time alone changes this; None once it is stuck."""
    outlook: str = ""
    """How a suspicion stands with its grace period; once it is stuck, the thresholds that were passed."""
    stuck: bool = False
    cause: Cause = ""
    """Why it is stuck, or the veto that forbids it."""

    @property
    def suspected(self) -> bool:
        return self.progress in SUSPECTED


def assess(
    sources: tuple[WatchedSource, ...], patience: Patience, noted: Suspicion, now: float, *vetoes: Veto
) -> Silence:
    """What silence comes to at a moment."""
    last = max([each.moved for each in sources if each.progress])
    moving = max(last, max([each.moved for each in sources if each.observed], default=now))
    lasted, still = now - last, now - moving
    frozen = still >= patience.frozen_s
    if lasted < patience.stale_s and not frozen:
        word = "advancing" if lasted < patience.quiet_s else "quiet"
        return Silence(word, lasted, still, min(last + patience.stale_s, moving + patience.frozen_s))
    word = "frozen" if frozen else "stalled"
    if noted.confirmed:
        for veto in vetoes:
            if now < veto.until:
                return Silence(word, lasted, still, veto.until, cause=veto.cause)
        passed = f"stale after {format_duration(patience.stale_s)}, grace {format_duration(patience.grace_s)}"
        return Silence(word, lasted, still, None, passed, stuck=True, cause="frozen" if frozen else "no-progress")
    end = now if noted.since is None else noted.since + patience.grace_s
    outlook = "its grace period begins" if noted.since is None else "its grace period is over"
    if end > now:
        outlook = f"stuck in {format_duration(end - now)} unless it moves"
    return Silence(word, lasted, still, end, outlook)


def apply_silence(verdict: Verdict, silence: Silence, now: float) -> Verdict:
    """The verdict on work that lives, with what its silence comes to. The reason is the caller's."""
    what = "stuck unless it moves" if silence.suspected else "suspected if silent"
    return verdict._replace(
        state="stuck" if silence.stuck else verdict.state, cause=silence.cause or verdict.cause,
        progress=silence.progress, silent_s=silence.lasted, look_at=silence.look_at,
        deadline=None if silence.cause or silence.look_at is None else (what, silence.look_at - now),
    )  # fmt: skip


def movement_evidence(sources: tuple[WatchedSource, ...], now: float, unmoved: str = "") -> tuple[Evidence, ...]:
    """When each source last moved. ``unmoved``: what is said of one that was not seen to move; empty: nothing."""
    words = {(True, True): "last moved", (True, False): "(a sign of life only) last moved"}
    said = [(each, words.get((each.observed, each.progress), unmoved)) for each in sources]
    return tuple([Evidence(format_source(each.name), what, now - each.moved) for each, what in said if what])


def format_latest(sources: tuple[WatchedSource, ...], now: float, unmoved: str) -> str:
    """Which source moved last, and how long ago."""
    latest = max(sources, key=lambda each: each.moved)
    what = f"last {format_source(latest.name)}" if latest.observed else unmoved
    return f"{what} {format_duration(now - latest.moved)} ago"


def shift_moment(moment: float | None, gap: float) -> float | None:
    """A moment, after time was lost that does not count."""
    return None if moment is None else moment + gap


def shift_sources(sources: dict[str, ProgressSource], gap: float) -> dict[str, ProgressSource]:
    return {name: ProgressSource(value, at + gap, moved + gap) for name, (value, at, moved) in sources.items()}
