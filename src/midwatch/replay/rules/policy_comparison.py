"""What another policy would have said of an attempt, from the silences that were noted of it.

Between its silences the work moved. Where the other policy would have asked, the judge is asked with the facts of that
moment. Time is reckoned without what was lost (suspended, asleep), and shown as it was. What was not noted is not
guessed: a verdict that hangs on it is uncertain, and says why.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from midwatch.core.policy import Policy
from midwatch.core.text import format_duration
from midwatch.jobs.rules import stall
from midwatch.jobs.rules.verdict import build_patience
from midwatch.replay.model import OtherPolicy, ReplayRow, RunHappening
from midwatch.replay.rules import attempt_history, replay_job
from midwatch.replay.rules.attempt_history import AttemptHistory, ProgressSilence, VerdictPoint
from midwatch.replay.rules.replay_job import RunState

NOTED = 1.5
"""Heartbeats up to which a silence is not noted."""
ANSWERS_IN = 1.0
"""Seconds in which a judge that was asked has mostly answered."""
RATES = {"cpu", "io"}
START = VerdictPoint(0.0, {"state": "working"})
PERHAPS = "it might have been stopped here"
TAIL = "how long it was silent before its end is not in the evidence"
IN_TRUTH = {
    "completed": "completed", "failed": "failed", "crashed": "crashed", "stuck": "was stopped as stuck",
    "timeout": "was stopped because its time was up", "stopped": "was stopped", "abandoned": "was given up",
}  # fmt: skip


def compare_attempt(
    story: RunState, events: list[RunHappening], otherwise: OtherPolicy
) -> tuple[list[ReplayRow], RunState]:
    """The verdicts of one attempt beside those of another policy, and what is known after it; ``story``: before it."""
    told, after = attempt_history.replay_events(story, events)
    if after.policy is None:
        return told, after
    rows = _compare_timelines(attempt_history.read_history(after, told, events), otherwise.apply_to(after.policy))
    return [row._replace(attempt=after.attempt) for row in rows], after


def list_limits(policy: Policy, other: Policy) -> list[str]:
    """What the evidence of a run under one policy cannot say about another at all."""
    found = []
    shortest = NOTED * policy.heartbeat_s
    if other.stale_s <= shortest:
        found.append(
            f"silences of up to {format_duration(shortest)} were not noted, so not every suspicion after "
            f"{format_duration(other.stale_s)} can be found"
        )
    if unwatched := [source for source in other.progress if source not in policy.progress]:
        found.append(f"{', '.join(unwatched)} was not watched, so it may have moved where it seems silent")
    if set(policy.progress) - set(other.progress):
        found.append("which source broke a silence was not noted, so there may have been longer ones")
    return found


# What would have been ---------------------------------------------------------------------------------------------


def _other_verdicts(known: AttemptHistory, other: Policy) -> list[VerdictPoint]:
    """What the other policy would have said if it had ended nothing."""
    if _policy_thresholds(known.policy) == _policy_thresholds(other):  # then all was asked that it would ask
        stop = {"stop": True} if other.on_stuck == "stop" else {}
        return [
            point._replace(said={**point.said, **stop}) if point.said["state"] == "stuck" else point
            for point in known.given
        ]
    found = []
    for silence in known.silences:
        if silence.end - silence.start >= other.stale_s:
            found += _judge_silence(known, silence, other)
            if silence.moved:
                found.append(VerdictPoint(silence.end, {"state": "working"}, found[-1].uncertain))
    watched = set(other.progress) <= set(known.policy.progress)
    return _pause_points(known, _delay_points(known, found, _largest_delay(other), watched=watched))


def _find_stop(known: AttemptHistory, said: list[VerdictPoint], other: Policy) -> VerdictPoint | None:
    """Where the other policy would have ended the work for sure."""
    stop = next((point for point in said if point.said.get("stop") and not point.uncertain), None)
    own = known.cut == "timeout" and other.timeout_s == known.policy.timeout_s
    if other.timeout_s is not None and (own or other.timeout_s < known.until):
        at = known.since_start(other.timeout_s)
        if stop is None or at < stop.at:
            return VerdictPoint(
                at, {"state": "timeout", "stop": True, "reason": f"not done after {format_duration(other.timeout_s)}"}
            )
    return stop


def _judge_silence(known: AttemptHistory, silence: ProgressSilence, other: Policy) -> list[VerdictPoint]:
    """The judge's answers at the threshold and at the end of the grace period, as far as the silence lasted."""
    story = known.story._replace(policy=other, stuck=False, suspended_at=None, attempts=())
    moved, found = dict.fromkeys(other.progress, 0.0), []
    for since, after in ((None, other.stale_s), (other.stale_s, build_patience(other).stuck_s)):
        if silence.end - silence.start < after:
            break
        answer = stall.instruct_shim(replay_job.build_facts(story._replace(stale_since=since), after, moved), other)
        said: dict[str, object] = {"state": "working", "progress": "stalled", "reason": answer.reason}
        if answer.word == "stuck":
            said = {"state": "stuck", **({"stop": True} if answer.what == "stop" else {}), "reason": answer.reason}
        found.append(
            VerdictPoint(silence.start + after, said, _find_doubt(known.policy, silence, other, silence.start + after))
        )
    return found


def _find_doubt(policy: Policy, silence: ProgressSilence, other: Policy, at: float) -> str:
    """Why it is not certain that the other policy would have seen this silence; empty when it is."""
    if found := list_limits(policy, other):
        return found[0]
    half = policy.stale_s / 2
    blind = min(policy.stale_s, half + NOTED * policy.heartbeat_s)
    if silence.end - silence.start < blind and RATES & set(other.progress):
        return f"CPU and I/O were looked at only after {format_duration(half)} of silence"
    if silence.moved and silence.end - at < policy.heartbeat_s:
        return "it moved within a heartbeat of that moment"
    return "" if silence.moved or silence.end - at >= ANSWERS_IN else "it ended just then"


def _delay_points(
    known: AttemptHistory, points: list[VerdictPoint], late: float, *, watched: bool
) -> list[VerdictPoint]:
    """Points at the moments at which they would have been seen; if the same was given a little later, then for sure."""
    found, times = [], [each.at for each in known.given]
    moments = [known.since_start(point.at) for point in points] + [float("inf")]
    for point, at, following in zip(points, moments, moments[1:], strict=False):
        around = known.given[bisect_left(times, at) : bisect_right(times, at + late)]
        twins = (
            each.at
            for each in around
            if _verdict_words(each.said) == _verdict_words(point.said) and each.at < following
        )
        twin = next(twins, None)
        certain = twin is not None and watched
        found.append(point._replace(at=at if twin is None else twin, uncertain="" if certain else point.uncertain))
    return found


def _pause_points(known: AttemptHistory, points: list[VerdictPoint]) -> list[VerdictPoint]:
    """While it was suspended it waited for a person, whatever the policy; then it is as it was."""
    held = START if not known.given else START._replace(at=known.given[0].at)
    found, rest = [held], 0
    for start, end in known.paused:
        while rest < len(points) and points[rest].at <= start:
            held = points[rest]
            found.append(held)
            rest += 1
        found += [VerdictPoint(start, {"state": "waiting"}), held._replace(at=end)]
    return found + points[rest:]


# Beside each other ------------------------------------------------------------------------------------------------


def _compare_timelines(known: AttemptHistory, other: Policy) -> list[ReplayRow]:
    """Both timelines, a row wherever either changes."""
    said = _other_verdicts(known, other)
    stop = _find_stop(known, said, other)
    alike = stop is not None and _ends_alike(known, stop, other)
    over = stop.at if stop is not None and not alike else float("inf")
    rows: list[ReplayRow] = []
    holds, last = [START, START], 0
    changes = [(point.at, which, point) for which, points in enumerate((known.given, said)) for point in points]
    for at, which, point in sorted(changes, key=lambda change: change[:2]):
        if (at, which) >= (over, 1):
            break
        holds[which] = point
        if rows and rows[-1].at == at and (which, last) != (1, 1):
            rows.pop()  # both changed at once
        rows.append(_build_row(at, *holds))
        last = which
    if stop is not None and not alike:
        rows = [row for row in rows if row.at < stop.at]
        return [
            *rows,
            _build_row(stop.at, holds[0], stop)._replace(
                note=_format_cut_off(known, stop), event="stopping", differs=True
            ),
        ]
    if known.last is not None:
        perhaps = any(point.said.get("stop") and point.uncertain for point in said)
        rows.append(_compare_end(known, holds[1], other, alike=alike, perhaps=perhaps))
    return rows


def _ends_alike(known: AttemptHistory, stop: VerdictPoint, other: Policy) -> bool:
    """Whether its own policy ended it in the same way, and then."""
    if known.cut != stop.said["state"]:
        return False
    if known.cut == "timeout" and known.policy.timeout_s == other.timeout_s:
        return True
    return known.since_start(known.until) - stop.at <= 2 * _largest_delay(other)  # the judge was asked twice


def _largest_delay(other: Policy) -> float:
    """Seconds by which a verdict may have been given later than the moment that it is reckoned for."""
    return min(ANSWERS_IN, other.stale_s / 10)


def _policy_thresholds(policy: Policy) -> tuple[object, ...]:
    return policy.stale_s, policy.grace_s, policy.progress


def _build_row(at: float, given: VerdictPoint, now: VerdictPoint) -> ReplayRow:
    differs = _verdict_words(given.said) != _verdict_words(now.said) and not now.uncertain
    perhaps = now.said.get("stop") and now.uncertain and now.at == at
    return ReplayRow(given.said, now.said, now.uncertain, PERHAPS if perhaps else "", at, differs=differs)


def _compare_end(known: AttemptHistory, now: VerdictPoint, other: Policy, *, alike: bool, perhaps: bool) -> ReplayRow:
    """Its end. ``alike``: it was ended as it would have been; ``perhaps``: it was not, if what is uncertain is so."""
    row = known.last
    assert row is not None
    if perhaps:
        return row._replace(uncertain="it might have been stopped before")
    if known.cut and not alike:
        note = "it would have gone on; how it would have ended, nobody knows"
        return row._replace(given={**(row.given or {}), "stop": True}, now=now.said, note=note, differs=True)
    if known.tail >= build_patience(other).stuck_s and other.on_stuck == "stop":
        return row._replace(uncertain=TAIL)
    return row._replace(note=TAIL if known.tail >= other.stale_s else "")


def _format_cut_off(known: AttemptHistory, stop: VerdictPoint) -> str:
    truth = f"it was still at work at {format_duration(round(known.over, 1))}, where the evidence ends"
    if known.last is not None and known.last.given is not None:
        truth = (
            f"it {IN_TRUTH.get(str(known.last.given['state']), 'ended')} at {format_duration(round(known.last.at, 1))}"
        )
    why = "as stuck" if stop.said["state"] == "stuck" else "because its time was up"
    return f"would have been stopped {why} at {format_duration(round(stop.at, 1))}; in truth {truth}"


def _verdict_words(said: dict[str, object]) -> tuple[object, object]:
    return said["state"], said.get("progress")
