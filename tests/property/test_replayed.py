"""Whatever happened to a run, its events judged again give the verdicts that were given, and what another policy
would have said is what that policy says of the same history.

The shim's bookkeeping is played here over the real judge, in a time that costs nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from midwatch.agents.catalog import Detectors
from midwatch.core.job_model import Alive, Attempt, End, Identity, JobFacts, ProgressSnapshot, ProgressSource, Record
from midwatch.core.pane_model import Observation
from midwatch.core.policy import PATIENT, Policy
from midwatch.core.states import VerdictState
from midwatch.jobs.rules import stall
from midwatch.replay.codec import event_evidence
from midwatch.replay.model import OtherPolicy, ReplayRow, RunHappening
from midwatch.replay.replay import RecordedVerdict, replay_events
from midwatch.replay.replay_session import SessionReplay
from midwatch.replay.rules import policy_comparison, replay_job
from midwatch.sessions.codec import recording
from midwatch.sessions.replayer import SessionReplayer
from midwatch.system.atomic_files import dumps

Step = tuple[str, float]
WHO = Identity("host", "boot", "pid:[1]", 42, 7)
LOSSES = ("suspended", "continued", "lost")
TICK = 1e-5
"""Seconds that a judge takes to look, and again to answer."""
BESIDE = 0.0137
"""Up to 13 times this are never near a tenth of a second, nor near the 0.06 of timeouts."""
BEFORE = 1.0 + BESIDE
"""Seconds of work before time is lost. Were they whole ones, work could be suspended in the same microsecond in which a
threshold is reached; then either order of the two is true."""


class Shim:
    """Keeps the time of one job as the shim does, and notes what the shim notes."""

    def __init__(self, policy: Policy, retries: int, now: float) -> None:
        self.policy, self.retries, self.now = policy, retries, now
        self.attempt, self.attempts = 0, list[Attempt]()
        self.lines: list[str] = []
        self.over = False
        self.begin()

    def spool(self, event: str, **more: object) -> None:
        self.now += TICK / 10
        line = {**more, "schema": 1, "run": "r1", "n": len(self.lines) + 1, "at": 9e8 + self.now, "mono": self.now,
                "name": "job", "event": event}  # fmt: skip
        self.lines.append(dumps(line))

    def begin(self) -> None:
        self.attempt += 1
        self.began = self.now
        self.timeout_at = self.now + (self.policy.timeout_s or float("inf"))
        self.ask_at = self.now + self.policy.stale_s
        self.moved = dict.fromkeys(self.policy.progress, self.now)
        self.stale_since: float | None = None
        self.stuck = False
        policy = {**self.policy._asdict(), "progress": list(self.policy.progress)}
        self.spool("started", attempt=self.attempt, policy=policy, began=self.now, retries=self.retries, backoff_s=3.0)

    def facts(self, **record: Any) -> JobFacts:
        seen = ProgressSnapshot(
            "r1", "boot", self.now, self.stale_since, self.stuck,
            {name: ProgressSource(5.0, self.now, moved) for name, moved in self.moved.items()},
        )  # fmt: skip
        found = Record(
            "job", "r1", ("make", "all"), "/", self.policy, 9e8, self.began, WHO, WHO, (), None, attempt=self.attempt,
            attempt_mono=self.began, retries=self.retries, backoff_s=3.0, attempts=tuple(self.attempts),
        )._replace(**record)  # fmt: skip
        return JobFacts("job", self.now, record=found, shim=Alive(41, "S"), work=Alive(42, "R"), seen=seen)

    def pass_time(self, until: float) -> None:
        """Nothing moves; deadlines come."""
        while not self.over and min(self.timeout_at, self.ask_at) <= until:
            self.now = max(self.now, min(self.timeout_at, self.ask_at))
            if self.timeout_at <= self.ask_at:
                self.stop("timeout", "its time was up")
            else:
                self.ask()
        self.now = max(self.now, until) if not self.over else self.now

    def ask(self) -> None:
        if self.timeout_at <= self.now + 2 * TICK:  # its time is up while the judge answers
            self.now = self.timeout_at
            self.stop("timeout", "its time was up")
            return
        self.now += TICK
        facts = self.facts()
        answer = stall.instruct_shim(facts, self.policy)
        self.now += TICK
        self.ask_at = self.now + answer.seconds
        if answer.word == "moving":
            self.stale_since = None
        elif self.stale_since is None:
            self.stale_since = self.now
            self.spool("stale", reason=answer.reason, judged=facts.now, moved=self.moved)
        if answer.word == "stuck" and not self.stuck:
            self.spool("stuck", reason=answer.reason, judged=facts.now, moved=self.moved, stale_since=self.stale_since)
            self.stuck = True
        if answer.what == "stop":
            self.stop("stuck", answer.reason)

    def move(self, source: int) -> None:
        before = max(self.moved.values())
        self.moved = {**self.moved, self.policy.progress[source % len(self.policy.progress)]: self.now}
        self.ask_at = self.now + self.policy.stale_s
        if self.stale_since is not None:
            self.spool("moved", since=before, until=self.now)
        elif self.now - before > self.policy.heartbeat_s * 1.5:
            self.spool("quiet", since=before, until=self.now)
        self.stale_since, self.stuck = None, False

    def lose(self, gap: float, *, suspended: bool) -> None:
        if suspended:
            self.spool("suspended", signal=19)
        self.now += gap
        self.moved = {name: moved + gap for name, moved in self.moved.items()}
        self.timeout_at += gap
        self.ask_at += gap
        self.stale_since = None if self.stale_since is None else self.stale_since + gap
        if suspended:
            self.spool("continued")
        else:
            self.spool("lost", seconds=gap)

    def stop(self, state: VerdictState, reason: str) -> None:
        self.spool("stopping", state=state, reason=reason)
        self.end(state, None, 15, reason)

    def end(self, state: VerdictState, code: int | None, signal: int | None = None, reason: str = "") -> None:
        ran = round(self.now - self.began, 3)
        end = {"state": state, "exit_code": code, "signal": signal, "reason": reason, "at": 9e8 + self.now,
               "elapsed_s": ran, "left": list[object](), "moved": self.moved}  # fmt: skip
        if self.attempt > self.retries or state in ("completed", "stopped"):
            self.over = True
            self.spool("ended", **end)
            return
        self.spool("attempt", attempt=self.attempt, **end)
        self.attempts.append(Attempt(self.attempt, End(state, code, signal, reason, 9e8, ran, ())))
        answer = stall.instruct_shim(self.facts(), self.policy)
        judged, self.now = self.now, self.now + TICK
        self.spool("retrying", attempt=self.attempt + 1, in_s=answer.seconds, reason=answer.reason, judged=judged)
        self.now += answer.seconds
        self.begin()

    def live(self, history: list[Step]) -> list[str]:
        """A history happens when it happens, however long judges take."""
        plan = self.now
        for what, much in history:
            if self.over:
                break
            plan = max(plan, self.now if self.attempts else plan) + (BEFORE if what in ("suspended", "lost") else much)
            self.pass_time(plan)
            if self.over:
                break
            if what in ("suspended", "lost"):
                self.lose(much, suspended=what == "suspended")
                plan += much
            elif what in ("completed", "failed", "stopped"):
                self.end(what, 1 if what == "failed" else 0)  # type: ignore[arg-type]
            elif what.startswith("moved"):
                self.move(int(what[5:]))
        return self.lines


def histories(spans: st.SearchStrategy[float]) -> st.SearchStrategy[list[Step]]:
    words = ["moved0", "moved1", "moved0", "moved1", "silent", "suspended", "lost", "failed"]
    steps = st.lists(st.tuples(st.sampled_from(words), spans), max_size=12)
    last = st.tuples(st.sampled_from(["completed", "failed", "stopped", "silent"]), spans)
    return st.tuples(steps, last).map(lambda parts: [*parts[0], parts[1]])


def policies(stales: st.SearchStrategy[float], timeouts: st.SearchStrategy[float]) -> st.SearchStrategy[Policy]:
    return st.builds(
        lambda stale, grace, timeout, part, stuck, progress: Policy(
            "mine", stale, grace, timeout, stale * part, stuck, progress
        ),
        stales, stales.map(lambda seconds: seconds - 1.0), st.none() | timeouts, st.floats(0.01, 0.49),
        st.sampled_from(["report", "stop"]), st.sampled_from([("output", "beat"), ("output", "cpu", "io", "beat")]),
    )  # fmt: skip


def tenths(most: int, beside: float = 0.0) -> st.SearchStrategy[float]:
    """Numbers that are never nearly equal to sums of others of the kind with another ``beside``."""
    return st.integers(10, most * 10).map(lambda tenth: tenth / 10 + beside)


any_history = histories(st.floats(0.01, 900.0))
any_policy = policies(st.floats(1.0, 700.0), st.floats(1.0, 3000.0))
plain_history = histories(tenths(900, BESIDE))
plain_policy = policies(tenths(700), tenths(3000, 0.06))


def happened(lines: list[str]) -> list[RunHappening]:
    return [it for line in lines for it in event_evidence.decode_line(line.encode()).happened]


def rows(lines: list[str], otherwise: OtherPolicy | None = None) -> list[ReplayRow]:
    return [told.row for told in replay_events(happened(lines), otherwise) if isinstance(told, RecordedVerdict)]


def words(points: list[tuple[float, dict[str, object] | None]]) -> list[tuple[float, object, object]]:
    """When what was said changed."""
    found: list[tuple[float, object, object]] = []
    for at, said in points:
        assert said is not None
        if not found or found[-1][1:] != (said["state"], said.get("progress")):
            found.append((at, said["state"], said.get("progress")))
    return found


# As it was ----------------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(any_policy, st.integers(0, 3), st.floats(0.0, 1e6), any_history)
def test_any_run_is_judged_as_it_was(policy: Policy, retries: int, now: float, history: list[Step]) -> None:
    lines = Shim(policy, retries, now).live(history)
    found = rows(lines)
    wrong = [row for row in found if row.mark != "="]
    assert wrong == []
    verdicts = [json.loads(line)["event"] for line in lines]
    stops = [json.loads(line) for line in lines if '"event": "stopping"' in line]
    silent = sum(word in ("quiet", "lost") for word in verdicts) + sum(stop["state"] == "stopped" for stop in stops)
    assert len(found) == len(verdicts) - silent


@settings(max_examples=200, deadline=None)
@given(any_policy, st.integers(0, 2), any_history, st.integers(0, 10**9), st.data())
def test_a_run_that_was_forged_is_noticed(
    policy: Policy, retries: int, history: list[Step], which: int, data: st.DataObject
) -> None:
    """Any reason, state or moment that the judge had a say in, changed in one event."""
    lines = [json.loads(line) for line in Shim(policy, retries, 100.0).live(history)]
    told = [line for line in lines if line["event"] in ("stale", "stuck", "retrying")]
    assume(told)
    line = told[which % len(told)]
    line["reason"] += data.draw(st.sampled_from([" ", "x", "; stopped"]))
    assert "≠" in {row.mark for row in rows([json.dumps(each) for each in lines])}


# Another policy -----------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(any_policy, any_policy, st.integers(0, 2), any_history)
def test_any_other_policy_can_be_tried_on_any_run(
    mine: Policy, other: Policy, retries: int, history: list[Step]
) -> None:
    found = rows(Shim(mine, retries, 50.0).live(history), OtherPolicy(other, {}))
    assert [row.at for row in found] == sorted(row.at for row in found)
    assert all(row.now is not None and row.given is not None for row in found)
    if other.on_stuck == "report" and other.timeout_s is None:
        assert not any(row.now.get("stop") for row in found if row.now)


@settings(max_examples=200, deadline=None)
@given(any_policy, st.integers(0, 2), any_history)
def test_its_own_policy_changes_nothing(policy: Policy, retries: int, history: list[Step]) -> None:
    found = rows(Shim(policy, retries, 50.0).live(history), OtherPolicy(policy, {}))
    assert {row.mark for row in found} == {"="}


@settings(max_examples=200, deadline=None)
@given(plain_policy, plain_policy, plain_history)
def test_what_another_policy_would_have_said_is_what_it_says_of_the_same_history(
    mine: Policy, other: Policy, history: list[Step]
) -> None:
    """As far as that is certain, as long as its own policy had not ended it, and until the evidence ends."""
    sources = ("output", "beat")  # of CPU the shim that is played here does not know when it is looked at
    mine = mine._replace(progress=sources)
    other = other._replace(progress=sources, heartbeat_s=mine.heartbeat_s, grace_s=other.grace_s + 2.0)
    lines = Shim(mine, 0, 50.0).live(history)
    found, _ = policy_comparison.compare_attempt(
        replay_job.begin_run(happened(lines)[0]), happened(lines), OtherPolicy(other, {})
    )
    assume(not any(row.uncertain for row in found) and not policy_comparison.list_limits(mine, other))
    told = [json.loads(line) for line in lines]
    silences = [line for line in told if line["event"] not in LOSSES]  # the others do not tell whether it was silent
    until = min(line["mono"] for line in silences if line["event"] == "stopping" or line is silences[-1]) - 51.0
    truth = rows(Shim(other, 0, 50.0).live(history))
    expected = words([(row.at, row.given) for row in truth if row.at < until])
    said = words([(row.at, row.now) for row in found if row.at < until])
    late = 1.0
    for at, *word in said:
        if at < until - late:
            assert any(word == [*other_word] and abs(at - when) <= late for when, *other_word in expected), (at, word)
    for at, *word in expected:
        if at < until - late:
            assert any(word == [*other_word] and abs(at - when) <= late for when, *other_word in said), (at, word)


# Sessions -----------------------------------------------------------------------------------------------------------


def _pool() -> list[Observation]:
    """Looks at real agents in all kinds of turns."""
    folder = Path(__file__).parents[1] / "goldens" / "agents" / "timelines"
    found: list[Observation] = []
    for path in sorted(folder.glob("claude-*.jsonl"))[:8]:
        with path.open(encoding="utf-8") as lines:
            seen = [each for each in recording.read_recording(lines, str(path)) if isinstance(each, Observation)]
        found += seen[:: max(1, len(seen) // 6)]
    return found


POOL = _pool()
KNOWN = Detectors()
gaps = st.sampled_from([0.1, 0.4996, 0.5, 0.9999, 1.0, 3.0, 31.0, 95.0, 700.0]) | st.floats(0.001, 1000.0)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(POOL) - 1), gaps), min_size=1, max_size=25),
    st.floats(0.0, 1e6),
    st.sampled_from([PATIENT, PATIENT._replace(stale_s=5.0, grace_s=1.0)]),
)
def test_any_recorded_session_is_judged_as_it_was(looks: list[tuple[int, float]], now: float, policy: Policy) -> None:
    again, writer = SessionReplayer(policy, KNOWN), recording.RecordingWriter()
    lines = [writer.header(recording.RecordingHeader("claude", "", "", policy))]
    for which, gap in looks:
        now += gap
        lines.append(writer.line(POOL[which]._replace(now=now, wall=1e9 + now), again.given))
    found = list(SessionReplay(KNOWN, None).rows(recording.read_recording(lines, "t")))
    assert len(found) == sum('"given":' in line for line in lines)
    assert [row for row in found if row.mark != "="] == []


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(POOL) - 1), gaps), min_size=1, max_size=9), st.floats(0.0, 1e6))
def test_what_is_judged_while_recording_is_what_is_read_later(looks: list[tuple[int, float]], now: float) -> None:
    judged: list[Observation] = []
    writer = recording.RecordingWriter()
    lines = [writer.header(recording.RecordingHeader("claude", "", ""))]
    for which, gap in looks:
        now += gap
        lines.append(writer.line(POOL[which]._replace(now=now, wall=1e9 + now), judged.append))
    assert judged == [each for each in recording.read_recording(lines, "t") if isinstance(each, Observation)]


def test_another_process_of_the_agent_is_not_remembered_as_the_one_before() -> None:
    again, seen = SessionReplayer(PATIENT, KNOWN), POOL[0]
    first = again.judge(seen)
    assert again.judge(seen._replace(now=seen.now + 5.0)).reason == first.reason
    tasks = tuple(task._replace(start=task.start + 1) for task in seen.tasks)
    assert again.judge(seen._replace(now=seen.now + 9.0, tasks=tasks)).reason == first.reason


def test_every_golden_is_replayed_and_nothing_said_is_untrue() -> None:
    folder = Path(__file__).parents[1] / "goldens" / "agents" / "timelines"
    agents = set()
    for path in sorted(folder.glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            replayed = SessionReplay(KNOWN, None)
            found = list(replayed.rows(recording.read_recording(lines, str(path))))
        assert found, path
        assert {row.mark for row in found} <= {"=", "?"}, path
        agents.add(replayed.agent)
    assert agents == {"claude", "codex", "gemini", "opencode", "qwen"}
