"""The judge answers for every combination of facts, and keeps its promises whatever they are."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from midwatch.core import verdict_json
from midwatch.core.exit_codes import NEXT
from midwatch.core.foreign_text import ForeignText, escape_text, is_plain
from midwatch.core.job_model import (
    Alive,
    Attempt,
    Beat,
    End,
    Gone,
    Identity,
    JobFacts,
    ProgressSnapshot,
    ProgressSource,
    Record,
    StopRequest,
    Unseen,
    WorkResult,
)
from midwatch.core.policy import PATIENT, PROGRESS_SOURCES, STRICT
from midwatch.core.verdict import FINAL, LIVE
from midwatch.jobs.rules import stall
from midwatch.jobs.rules import verdict as job_verdict

NOW = 50_000.0
moments = st.floats(0, NOW)
ours = st.text(st.characters(exclude_categories=("C", "Z"))).map(escape_text)
"""Sentences of our own: one line, with nothing hidden. Codecs make them so where they are read from a file."""
foreign = st.builds(ForeignText, st.text())
named = st.lists(st.tuples(foreign, st.integers(2, 99)), max_size=5).map(tuple)
"""Processes, by the names that they gave themselves."""
processes = st.one_of(
    st.builds(Alive, st.just(42), st.sampled_from("RSDTt?")), st.builds(Gone, ours), st.builds(Unseen, ours)
)
ends = st.builds(
    End,
    st.sampled_from([*(state for state in FINAL if state != "not_found"), "stuck"]),
    st.none() | st.integers(0, 255),
    st.none() | st.integers(1, 64),
    ours,
    moments,
    st.floats(0, 1e6),
    named,
)
who = st.just(Identity("h", "b", "n", 42, 7))
records = st.builds(
    Record, st.just("n"), st.just("r"), st.just(("x",)), st.just("/"), st.sampled_from([PATIENT, STRICT]),
    moments, moments, who, who, st.lists(foreign, max_size=2).map(tuple), st.none() | ends, st.just({}),
    st.integers(1, 3), moments,
    st.none() | moments, st.integers(0, 3), st.floats(0, 600),
    st.lists(st.builds(Attempt, st.integers(1, 3), ends), max_size=3).map(tuple), st.none(), st.none(), st.just(""),
    st.sampled_from(["job", "session"]), st.just(""), st.none(), st.just(""), st.just(""), st.just(()),
    st.just(()),
)  # fmt: skip
notes = st.builds(
    ProgressSnapshot, st.just("r"), st.just("b"), moments, st.none() | moments, st.booleans(),
    st.dictionaries(st.sampled_from(PROGRESS_SOURCES), st.builds(ProgressSource, moments, moments, moments)),
)  # fmt: skip
stops = st.builds(StopRequest, st.just("stopped"), st.just("stop"), ours, processes)
statuses = st.sampled_from(["SUCCESS\n", "FAILED", ""]) | st.text()
looks = st.builds(
    JobFacts, name=st.just("n"), now=st.just(NOW), exists=st.booleans(), record=st.none() | records,
    policy=st.none() | st.just(PATIENT), status=st.none() | st.builds(ForeignText, statuses),
    earlier=st.none() | st.builds(ForeignText, statuses), open_until=st.none() | moments,
    status_since=st.none() | moments, watched=st.booleans(), unseen_since=st.none() | moments,
    result=st.none() | st.builds(WorkResult, st.booleans(), st.none()), ending=st.none() | ends,
    shim=processes, work=processes, seen=st.none() | notes, stop=st.none() | stops, outlived=st.booleans(),
    log=st.none() | st.just("/jobs/n.log"), elapsed_s=st.none() | st.floats(0, 1e6),
    others=st.just(0), pid_written=st.none(), survivors=named,
    beat=st.none() | st.builds(Beat, foreign, st.none() | st.floats(0, 1)), troubles=st.just(()),
)  # fmt: skip


@given(looks)
def test_the_judge_is_total_and_speaks_only_its_own_words(facts: JobFacts) -> None:
    verdict = job_verdict.judge(facts)
    assert verdict.state in (*LIVE, *FINAL)
    assert verdict.final or verdict.state in LIVE
    assert verdict.state in NEXT


@given(looks)
def test_nothing_that_others_wrote_leaves_its_line_or_hides(facts: JobFacts) -> None:
    verdict = job_verdict.judge(facts)
    assert is_plain(verdict.reason), ascii(verdict.reason)
    for piece in (*verdict.evidence, *verdict.against):
        assert is_plain(piece.says), ascii(piece)


@given(looks)
def test_the_same_facts_give_the_same_verdict(facts: JobFacts) -> None:
    assert job_verdict.judge(facts) == job_verdict.judge(facts)


@given(looks)
def test_nothing_suspended_or_unseen_is_ever_stuck(facts: JobFacts) -> None:
    ours = facts.record is not None
    work = facts.work if ours else facts.shim
    if facts.record is not None and facts.record.end is not None:
        return
    if isinstance(work, Unseen) or (isinstance(work, Alive) and work.suspended):
        verdict = job_verdict.judge(facts)
        assert verdict.state != "stuck" or verdict.final, "final: an attempt that was stopped for it is past"


@given(looks, st.sampled_from(PROGRESS_SOURCES))
def test_whatever_moved_within_the_threshold_is_not_stuck(facts: JobFacts, source: str) -> None:
    if facts.seen is None or (facts.record is not None and facts.record.end is not None):
        return
    moved = facts.seen._replace(sources={**facts.seen.sources, source: ProgressSource(1.0, NOW, NOW - 1.0)})
    verdict = job_verdict.judge(facts._replace(seen=moved))
    assert verdict.state != "stuck" or verdict.final, "final: an attempt that was stopped for it is past"


@given(looks)
def test_a_judge_that_is_asked_never_stops_what_may_only_be_reported(facts: JobFacts) -> None:
    what, seconds, word, _ = stall.instruct_shim(facts, PATIENT)
    assert seconds >= 0.0
    assert (what, word) in {
        ("wait", "moving"), ("wait", "stale"), ("wait", "stuck"), ("retry", "ended"), ("end", "ended")
    }  # fmt: skip


@settings(max_examples=300)
@given(looks, st.text(max_size=400), st.text(max_size=300))
def test_a_line_without_its_result_is_at_most_500_bytes(facts: JobFacts, reason: str, log: str) -> None:
    verdict = job_verdict.judge(facts)._replace(name="x" * 100, reason=reason, log=log, result=None)
    assert len(verdict_json.encode_verdict(verdict, NEXT[verdict.state]).encode()) <= verdict_json.LONGEST
