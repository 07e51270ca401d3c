"""Recorded evidence judged again: a recording of a session or events of jobs, line by line, however long they are."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO

from midwatch.agents.catalog import Detectors
from midwatch.core.errors import FormatError, UsageError
from midwatch.core.job_model import Record
from midwatch.core.value import Value
from midwatch.jobs.job_directory import JobDirectory
from midwatch.replay.codec import event_evidence
from midwatch.replay.model import OtherPolicy, ReplayRow, RunHappening
from midwatch.replay.replay_session import SessionReplay
from midwatch.replay.rules import policy_comparison, replay_job
from midwatch.replay.rules.replay_job import RunState
from midwatch.sessions.codec import recording

LONGEST = 64 << 20
"""Bytes of a line that is read at all."""
OF_JOBS = {"timeout_s": "--timeout", "on_stuck": "--on-stuck", "progress": "--progress"}


class RecordedVerdict(Value):
    """A verdict, and whose it is."""

    name: str
    run: str
    """Empty for a session."""
    row: ReplayRow


class ReplayNote(Value):
    """What whoever reads the verdicts should know of the evidence."""

    says: str


Found = Iterator[RecordedVerdict | ReplayNote]


def replay_file(file: BinaryIO, path: str, otherwise: OtherPolicy | None) -> Found:
    """Everything in a file. FormatError says what is wrong, and in which line."""
    lines = _lines(file, path)
    first = next(lines, None)
    if first is None:
        raise FormatError(f"{path} is empty: there is nothing to judge")
    if isinstance(first, ReplayNote):
        raise FormatError(f"{path}:1: it is cut off before its first line ends")
    found = _timeline_header(first[1])
    if found is None:
        yield from replay_events(_read_events(first, lines, path), otherwise)
    elif found.get("v") != recording.VERSION:
        newer = f": {event_evidence.NEWER}" if str(found.get("v")) > str(recording.VERSION) else ""
        raise FormatError(f"{path}:1: a recording of version {found.get('v')}, not {recording.VERSION}{newer}")
    else:
        yield from _replay_session(first, lines, path, otherwise)


def _lines(file: BinaryIO, path: str) -> Iterator[tuple[int, bytes] | ReplayNote]:
    """Lines with their numbers. The last one may be cut off: its writer was killed, or has not come to its end."""
    number = 0
    while line := file.readline(LONGEST):
        number += 1
        if not line.endswith(b"\n"):
            if len(line) == LONGEST:
                raise FormatError(f"{path}:{number}: a line of more than {LONGEST >> 20} MB is no evidence")
            if _decode_json(line) is None:
                yield ReplayNote(f"{path}:{number}: the last line is cut off; it is passed over")
                return
        if line.strip():
            yield number, line


def _decode_json(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _timeline_header(line: bytes) -> dict[str, object] | None:
    found = _decode_json(line)
    return found if isinstance(found, dict) and found.get("midwatch") == "timeline" else None


# Sessions ---------------------------------------------------------------------------------------------------------


def _replay_session(
    first: tuple[int, bytes], lines: Iterator[tuple[int, bytes] | ReplayNote], path: str, otherwise: OtherPolicy | None
) -> Found:
    if otherwise is not None and (wrong := [OF_JOBS[key] for key in otherwise.changes if key in OF_JOBS]):
        raise UsageError(f"{path} is a recording of a session, for which {', '.join(wrong)} means nothing")
    notes: list[ReplayNote] = []

    def texts() -> Iterator[str]:
        at = 0
        for each in chain([first], lines):
            if isinstance(each, ReplayNote):
                notes.append(each)
                continue
            number, line = each
            yield from [""] * (number - at - 1)  # so that lines keep their numbers
            at = number
            yield line.decode("utf-8", "replace")

    replayed = SessionReplay(Detectors(), otherwise)
    try:
        for row in replayed.rows(recording.read_recording(texts(), path)):
            yield RecordedVerdict(replayed.agent, "", row)
    except UsageError as error:
        raise FormatError(f"{path}:1: {error}") from error
    yield from notes
    if not replayed.looks:
        raise FormatError(f"{path}: a recording without a look")


# Jobs -------------------------------------------------------------------------------------------------------------


def _read_events(
    first: tuple[int, bytes], lines: Iterator[tuple[int, bytes] | ReplayNote], path: str
) -> Iterator[RunHappening | Record | ReplayNote]:
    """Events in the order of the file, each run's record before them where it stands there."""
    for each in chain([first], lines):
        if isinstance(each, ReplayNote):
            yield each
            continue
        number, text = each
        try:
            line = event_evidence.decode_line(text)
        except FormatError as error:
            what = f"{path}:{number}: {error}"
            if number == first[0]:
                what += "; replay takes a file of `midwatch record`, or of `midwatch events --json`"
            raise FormatError(what) from error
        if line.torn:
            yield ReplayNote(f"{path}:{number}: {line.torn} bytes in it are no event; they are passed over")
        if line.record is not None:
            yield line.record
        yield from line.happened


class _RunReplay:
    """One run while it is judged again."""

    def __init__(self, story: RunState, otherwise: OtherPolicy | None) -> None:
        self.story = story
        self.otherwise = otherwise
        self.n = 0
        self.warned = False
        """It was said what the evidence of this run can say of no other policy."""
        self.attempt: list[RunHappening] = []
        """Events of the attempt that is under way: another policy is tried on it as a whole."""

    def take(self, it: RunHappening) -> Found:
        if it.n is not None:
            if it.n <= self.n:
                yield ReplayNote(f"{it.name}: event {it.n} of run {it.run} is there twice; it counts once")
                return
            if it.n > self.n + 1:
                yield ReplayNote(f"{it.name}: events {self.n + 1} to {it.n - 1} of run {it.run} are missing")
            self.n = it.n
        if self.otherwise is None or it.event not in replay_job.STEPS:
            self.story, row = replay_job.replay_event(self.story, it)
            if row is not None:
                yield RecordedVerdict(it.name, it.run, row)
            return
        if it.event == "started":
            yield from self.end()
        if self.attempt or it.event == "started" or self.story.policy is None:
            self.attempt.append(it)
        else:  # between two attempts
            self.story = replay_job.replay_event(self.story, it)[0]
        if it.end is not None:
            yield from self.end()

    def end(self) -> Found:
        """The attempt, or the evidence of it, is over."""
        if not self.attempt:
            return
        assert self.otherwise is not None
        events, self.attempt = self.attempt, []
        rows, self.story = policy_comparison.compare_attempt(self.story, events, self.otherwise)
        for row in rows:
            yield RecordedVerdict(self.story.name, self.story.run, row)
        if (policy := self.story.policy) is not None and not self.warned:
            other = self.otherwise.apply_to(policy)
            self.warned = events[-1].when - self.story.began >= other.stale_s
            yield from map(ReplayNote, policy_comparison.list_limits(policy, other) if self.warned else ())


def replay_events(found: Iterable[RunHappening | Record | ReplayNote], otherwise: OtherPolicy | None) -> Found:
    """Events of any number of runs, each judged apart."""
    runs: dict[tuple[str, str], _RunReplay] = {}
    records: dict[str, Record] = {}
    for it in found:
        if isinstance(it, ReplayNote):
            yield it
            continue
        if isinstance(it, Record):
            records[it.run] = it
            continue
        which = (it.name, it.run)
        if which not in runs:
            runs[which] = _RunReplay(replay_job.begin_run(it, records.pop(it.run, None)), otherwise)
        yield from runs[which].take(it)
        if it.event == "ended":
            del runs[which]
    for run in runs.values():
        yield from run.end()


def replay_recorded_job(looker: JobDirectory, name: str, otherwise: OtherPolicy | None) -> Found | None:
    """The last run of a job, as the journal and its record have it. None when nothing is remembered of it."""
    from midwatch.jobs import history  # noqa: PLC0415  # it costs a database, which a file has no need of

    book, trouble = history.open_journal(looker.directory)
    with contextlib.closing(book):
        known = history.JobHistory(looker, book, name)
        run = known.run(known.runs[-1]) if known.runs else None
    if run is None or not run.events:
        return None
    notes = [ReplayNote(trouble)] if trouble else []
    record = event_evidence.decode_record(run.record)
    return replay_events(
        [*notes, *([record] if record else []), *map(event_evidence.happening_from_event, run.events)], otherwise
    )
