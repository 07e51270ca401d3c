"""A breaker against a small model of it, over any sequence of happenings, restarts, torn lines and clocks that jump."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from midwatch.breaker import codec as lines
from midwatch.breaker import store
from midwatch.breaker.model import (
    COUNTING,
    AttemptOutcome,
    Closed,
    Happening,
    Ledger,
    Open,
    Reset,
    SetBack,
    Started,
    State,
    TrialRun,
    Trip,
    Tripped,
    Void,
)
from midwatch.breaker.rules import breaker
from midwatch.system import atomic_files

KEY, COOLDOWN = "key", 100.0
ENDS = ("completed", *COUNTING, "stopped", "abandoned", "unknown", "incomplete")
GARBAGE = (
    b"\n",
    b"{",
    b"{torn",
    b"[1]\n",
    b'{"schema": 2, "at": 1, "what": "reset", "reason": ""}\n',
    b"\xff\x00\n",
    b"x" * 5000 + b"\n",
)

moments = st.floats(-1e6, 1e6)
runs = st.sampled_from(["r1", "r2", "r3"])
starts = st.builds(Started, moments, runs, st.just("job"), st.booleans())
failures = st.builds(AttemptOutcome, moments, runs, st.just("job"), st.integers(1, 3), st.sampled_from(COUNTING))
ends = st.builds(AttemptOutcome, moments, runs, st.just("job"), st.integers(1, 3), st.sampled_from(ENDS))
voids = st.builds(Void, moments, runs)
covered = st.lists(st.tuples(runs, st.integers(1, 3)), max_size=3).map(tuple)
resets = st.builds(Reset, moments, st.text(), covered)
acts = st.one_of(resets, st.builds(Trip, moments, st.text()), st.builds(SetBack, moments))
happenings = st.one_of(*[starts] * 6, *[failures] * 6, *[ends] * 4, voids, acts)
MOST = 5
thresholds = st.integers(1, MOST)


def row(at: float) -> list[Happening]:
    """Enough failures to open any breaker of these tests."""
    pairs = [
        (Started(at, f"p{n}", "job", trial=False), AttemptOutcome(at, f"p{n}", "job", 1, "failed")) for n in range(MOST)
    ]
    return [each for pair in pairs for each in pair]


beginnings: st.SearchStrategy[list[Happening]] = st.one_of(
    st.just([]), moments.map(row), moments.map(lambda at: [*row(at), Started(at, "r1", "job", trial=True)])
)
histories = st.builds(lambda first, then: [*first, *then], beginnings, st.lists(happenings, max_size=30))


def kinds(happened: list[Happening]) -> list[tuple[type, Happening]]:
    """Values are tuples: a void and a reset of the same moment are equal, so their kinds are compared, too."""
    return [(type(each), each) for each in happened]


# The model -------------------------------------------------------------------------------------------------------


class Model:
    """What a breaker should say, kept as it goes along and never read from anywhere."""

    def __init__(self, threshold: int) -> None:
        self.threshold = threshold
        self.row = 0
        self.mode = "closed"
        self.since = 0.0
        self.trial: str | None = None
        self.heard: dict[str, int] = {}

    def start(self, run: str, *, trial: bool) -> None:
        if self.heard.get(run, 99) == 99:
            self.heard[run] = 0
            if trial and self.mode == "open" and self.trial is None:
                self.trial = run

    def end(self, run: str, attempt: int, state: str, at: float) -> None:
        if self.heard.get(run, 99) >= attempt:
            return
        self.heard[run] = attempt if state in COUNTING else 99
        was_trial = run == self.trial
        if was_trial:
            self.trial = None
        if self.mode == "tripped":
            return
        if state == "completed":
            self.close()
        elif state in COUNTING:
            self.row += 1
            if was_trial or (self.mode == "closed" and self.row >= self.threshold):
                self.mode, self.since = "open", at

    def void(self, run: str) -> None:
        self.heard[run] = 99
        self.trial = None if self.trial == run else self.trial

    def close(self) -> None:
        self.mode, self.row, self.trial = "closed", 0, None

    def trip(self) -> None:
        self.mode, self.row, self.trial = "tripped", 0, None

    def admits(self, now: float) -> tuple[bool, bool]:
        if self.mode == "closed":
            return True, False
        ready = self.mode == "open" and self.trial is None and now - self.since >= COOLDOWN
        return ready, ready


def same(state: State, model: Model) -> bool:
    match state:
        case Closed(failures=failures):
            return model.mode == "closed" and failures == model.row
        case Open(since=since, failures=failures):
            return model.mode == "open" and model.trial is None and (since, failures) == (model.since, model.row)
        case TrialRun(run=run, before=before):
            return (
                model.mode == "open"
                and model.trial == run
                and (before.since, before.failures)
                == (
                    model.since,
                    model.row,
                )
            )
        case Tripped():
            return model.mode == "tripped"


def told(model: Model, each: Happening) -> None:
    match each:
        case Started():
            model.start(each.run, trial=each.trial)
        case AttemptOutcome():
            model.end(each.run, each.attempt, each.state, each.at)
        case Void():
            model.void(each.run)
        case Reset():
            model.close()
            for run, attempt in each.over:
                if run in model.heard:
                    model.heard[run] = max(model.heard[run], attempt)
        case Trip():
            model.trip()
        case SetBack():
            if model.mode == "open" and model.trial is None:
                model.since = min(model.since, each.at)


@settings(max_examples=1000)
@given(histories, thresholds)
def test_any_history_goes_as_the_model_says(history: list[Happening], threshold: int) -> None:
    ledger, model = Ledger(), Model(threshold)
    for each in history:
        told(model, each)
        ledger = breaker.fold(ledger, [each], threshold)
        assert same(ledger.state, model)


class AnyNight(RuleBasedStateMachine):
    """Every answer is read from the file anew: each step is a restart of whoever asks."""

    def __init__(self) -> None:
        super().__init__()
        self.dir = tempfile.mkdtemp(prefix="midwatch-breaker-")
        os.mkdir(f"{self.dir}/breakers")
        self.path = f"{self.dir}/breakers/{KEY}.jsonl"
        store.append(self.dir, KEY)
        self.model = Model(threshold=3)
        self.now = 1_000_000.0
        self.number = 0
        self.torn = False

    def teardown(self) -> None:
        shutil.rmtree(self.dir)

    def ledger(self) -> Ledger:
        reading = store.read(self.dir, KEY, 3)
        return breaker.fold(reading.before, reading.happened, 3)

    def tell(self, happening: Happening) -> None:
        """As everyone but a shim does it: a torn line before it does no harm."""
        store.append(self.dir, KEY, happening)
        told(self.model, happening)
        self.torn = False

    @rule()
    def start(self) -> None:
        state = self.ledger().state
        answer = breaker.decide(state, COOLDOWN, self.now)
        assert (answer.admitted, answer.trial) == self.model.admits(self.now)
        if answer.admitted:
            assert not answer.trial or self.model.trial is None, "two trials at once"
            self.number += 1
            self.tell(Started(self.now, f"run{self.number}", "job", answer.trial))
        elif isinstance(state, Open) and state.since > self.now:
            self.tell(SetBack(self.now))

    @rule(back=st.integers(0, 2), attempt=st.integers(1, 3), state=st.sampled_from([*ENDS, *COUNTING]))
    def end(self, back: int, attempt: int, state: str) -> None:
        """A shim tells how an attempt of one of the last runs ended, perhaps not for the first time."""
        outcome = AttemptOutcome(self.now, f"run{self.number - back}", "job", attempt, state)
        atomic_files.append(self.path, lines.encode_happening(outcome))
        if not self.torn:
            told(self.model, outcome)
        self.torn = False

    @rule(back=st.integers(0, 2))
    def void(self, back: int) -> None:
        self.tell(Void(self.now, f"run{self.number - back}"))

    @rule()
    def a_row_and_then_the_cool_down(self) -> None:
        for _ in range(3):
            self.start()
            self.end(0, 1, "failed")
        self.now += COOLDOWN

    @rule()
    def reset(self) -> None:
        self.tell(Reset(self.now, ""))

    @rule()
    def trip(self) -> None:
        self.tell(Trip(self.now, "why"))

    @rule(seconds=st.sampled_from([0.5, COOLDOWN / 2, COOLDOWN, 10 * COOLDOWN, -COOLDOWN / 2, -1e5]))
    def time_passes_or_the_clock_jumps(self, seconds: float) -> None:
        self.now += seconds

    @rule(data=st.sampled_from(GARBAGE))
    def someone_writes_what_is_no_line(self, data: bytes) -> None:
        with open(self.path, "ab") as file:
            file.write(data)
        self.torn = not data.endswith(b"\n")
        self.a_bookmark_is_set()

    @rule()
    def someone_removes_the_file(self) -> None:
        self.a_bookmark_is_set()
        os.unlink(self.path)
        self.model, self.torn = Model(threshold=3), False

    @rule()
    def a_bookmark_is_set(self) -> None:
        reading = store.read(self.dir, KEY, 3)
        store.write_bookmark(self.dir, KEY, reading, 3, breaker.fold(reading.before, reading.happened, 3))

    @rule()
    def the_bookmark_is_spoiled(self) -> None:
        with open(f"{self.dir}/breakers/{KEY}.mark", "w", encoding="utf-8") as file:
            file.write('{"schema": 1, "upto": 3}')

    @invariant()
    def the_file_says_what_the_model_says(self) -> None:
        assert same(self.ledger().state, self.model)

    @invariant()
    def the_bookmark_changes_nothing(self) -> None:
        with open(self.path, "ab+") as file:
            file.seek(0)
            happened, _ = lines.decode_lines(file.read())
        assert breaker.fold(Ledger(), happened, 3) == self.ledger()


@pytest.fixture(autouse=True)
def _every_reading_is_worth_a_bookmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "FAR", 1)


def test_any_night_goes_as_the_model_says() -> None:
    run_state_machine_as_test(AnyNight, settings=settings(max_examples=60, stateful_step_count=40, deadline=None))


# Promises that hold whatever was written -------------------------------------------------------------------------


@given(histories, thresholds, st.integers(0, 40))
def test_going_on_from_any_moment_gives_the_same(history: list[Happening], threshold: int, cut: int) -> None:
    before = breaker.fold(Ledger(), history[:cut], threshold)
    assert breaker.fold(before, history[cut:], threshold) == breaker.fold(Ledger(), history, threshold)


@given(histories, st.lists(happenings, max_size=10), thresholds, st.floats(0, COOLDOWN - 0.001))  # sums are rounded
def test_only_success_and_a_person_let_anything_through_before_the_cool_down(
    history: list[Happening], later: list[Happening], threshold: int, elapsed: float
) -> None:
    ledger = breaker.fold(Ledger(), history, threshold)
    if not isinstance(ledger.state, Open):
        return
    now = ledger.state.since + elapsed
    unforced = [
        each._replace(at=now) if isinstance(each, AttemptOutcome) else each
        for each in later
        if not isinstance(each, Reset | Trip | SetBack)
        and not (isinstance(each, AttemptOutcome) and each.state == "completed")
    ]
    assert not breaker.decide(ledger.state, COOLDOWN, now).admitted
    assert not breaker.decide(breaker.fold(ledger, unforced, threshold).state, COOLDOWN, now).admitted


@given(
    histories, thresholds, st.lists(st.sampled_from(COUNTING), min_size=5, max_size=8), st.lists(st.sampled_from(ENDS))
)
def test_a_row_of_failures_always_opens(
    history: list[Happening], threshold: int, row: list[str], between: list[str]
) -> None:
    for number, state in enumerate(row):
        history = [
            *history,
            Started(0.0, f"new{number}", "job", trial=False),
            AttemptOutcome(0.0, f"new{number}", "job", 1, state),
        ]
        if number < len(between) and between[number] != "completed":
            history += [
                Started(0.0, f"odd{number}", "job", trial=False),
                AttemptOutcome(0.0, f"odd{number}", "job", 1, between[number]),
            ]
    assert not isinstance(breaker.fold(Ledger(), history, threshold).state, Closed)


@given(histories, thresholds)
def test_a_success_of_a_run_that_is_known_closes_whatever_is_not_tripped(
    history: list[Happening], threshold: int
) -> None:
    ledger = breaker.fold(Ledger(), history, threshold)
    after: list[Happening] = [
        Started(0.0, "new", "job", trial=False),
        AttemptOutcome(0.0, "new", "job", 1, "completed"),
    ]
    state = breaker.fold(ledger, after, threshold).state
    assert state == (ledger.state if isinstance(ledger.state, Tripped) else Closed())


@given(histories, thresholds)
def test_a_tripped_breaker_is_closed_by_a_reset_only(history: list[Happening], threshold: int) -> None:
    ledger = breaker.fold(Ledger(), history, threshold)
    tripped = breaker.fold(ledger, [Trip(1.0, "why")], threshold)
    later = [each for each in history if not isinstance(each, Reset | Trip)]
    assert breaker.fold(tripped, later, threshold).state == Tripped(1.0, "why")
    assert breaker.fold(tripped, [*later, Reset(2.0, "")], threshold).state == Closed()


@given(histories, thresholds, thresholds)
def test_a_closed_breaker_without_a_row_and_a_tripped_one_are_so_for_every_threshold(
    history: list[Happening], one: int, other: int
) -> None:
    """That is why a bookmark that was set with one threshold serves with another, too."""
    state = breaker.fold(Ledger(), history, one).state
    if state == Closed() or isinstance(state, Tripped):
        assert breaker.fold(Ledger(), history, other).state == state


@given(histories, thresholds, moments, st.floats(0, 1e6))
def test_what_is_said_is_true_of_the_answer(
    history: list[Happening], threshold: int, now: float, cooldown: float
) -> None:
    state = breaker.fold(Ledger(), history, threshold).state
    answer, words = breaker.decide(state, cooldown, now), breaker.format_state(state, cooldown, now)
    assert answer.wait_s is None or 0 < answer.wait_s <= cooldown
    assert ("let through now" in words) == answer.trial
    assert ("let through in" in words) == (answer.wait_s is not None)


# Files -----------------------------------------------------------------------------------------------------------


@given(histories)
def test_every_line_is_read_as_it_was_written_and_fits_into_one_write(history: list[Happening]) -> None:
    written = [lines.encode_happening(each) for each in history]
    assert all(len(each.encode()) < 4096 for each in written)
    read, wrong = lines.decode_lines("".join(written).encode())
    cut = [each._replace(reason=each.reason[:200]) if isinstance(each, Reset | Trip) else each for each in history]
    assert (kinds(read), wrong) == (kinds(cut), [])


@given(
    st.lists(st.one_of(st.binary(), happenings.map(lambda each: lines.encode_happening(each).encode()))),
    st.integers(0, 4000),
)
def test_whatever_bytes_a_file_holds_its_beginning_says_the_beginning(parts: list[bytes], cut: int) -> None:
    data = b"".join(parts)
    whole, _ = lines.decode_lines(data)
    beginning, _ = lines.decode_lines(data[:cut])
    assert kinds(beginning) == kinds(whole[: len(beginning)])


@given(histories, thresholds, st.integers(0, 1 << 40))
def test_a_bookmark_is_read_as_it_was_written(history: list[Happening], threshold: int, upto: int) -> None:
    ledger = breaker.fold(Ledger(), history, threshold)
    read = lines.decode_bookmark(lines.encode_bookmark(lines.Bookmark(upto, 7, threshold, ledger)))
    assert (read.upto, read.check, read.threshold, read.ledger) == (upto, 7, threshold, ledger)
    assert type(read.ledger.state) is type(ledger.state)
