"""`midwatch show`: what is written down of a job, and its timeline."""

import contextlib
import os
import shlex
import time
from collections.abc import Iterator

from midwatch.cli import context, output
from midwatch.cli.commands.events import colour_words, parse_number
from midwatch.cli.parser import Options
from midwatch.core import verdict_json
from midwatch.core.errors import UsageError
from midwatch.core.event import Event
from midwatch.core.exit_codes import EXIT_CODES, NEXT
from midwatch.core.job_model import Record
from midwatch.core.json_text import dump
from midwatch.core.policy import Policy
from midwatch.core.redaction import redact, redact_record, redact_words
from midwatch.core.text import end_in_words, format_duration, visible
from midwatch.core.verdict import Verdict
from midwatch.jobs import history
from midwatch.jobs.codec.sentinel import SUFFIXES
from midwatch.jobs.history import JobHistory, JobRun
from midwatch.journal import codec as journal_codec
from midwatch.journal import journal
from midwatch.subjects import snapshot

EARLIER = 10
"""Earlier runs that a person is shown."""


def main(options: Options) -> int:
    looker, named = context.job_observer(options), context.job_names(options)
    if len(named) > 1:
        raise UsageError("show tells of one job at a time")
    name, wanted, count = named[0], options.text("--run"), parse_number(options, "-n")
    book, trouble = history.open_journal(looker.directory)
    if trouble:
        journal.warn(f"{trouble}; this is told from the files that can be read")
    with contextlib.closing(book):
        found = JobHistory(looker, book, name)
        runs = [run for run in found.runs if run == wanted] if wanted is not None else found.runs
        if not runs:
            return _print_missing(options, found, wanted)
        if options.flag("--json"):
            for run in runs:
                print(_as_json(found, _limit_events(found.run(run), count)))
        else:
            print("\n".join(_format_run(found, found.run(runs[-1]), count)))
    return 0


def _print_missing(options: Options, found: JobHistory, wanted: str | None) -> int:
    if wanted is None and options.flag("--json"):
        print(_as_json(found, JobRun("", None, found.facts, [], found.verdict)))
    elif wanted is None:
        print(output.format_line(found.verdict))
    else:
        output.print_remark(f"no run {wanted!r} of {found.name} is known; `midwatch show {found.name}` lists them")
    return EXIT_CODES["not_found"]


def _limit_events(run: JobRun, count: int | None) -> JobRun:
    return run if count is None else run._replace(events=run.events[max(0, len(run.events) - count) :])


def _judge_run(found: JobHistory, run: JobRun) -> Verdict | None:
    """The live state of the run whose files are in place; of an earlier one, how it ended as its files tell."""
    if run.verdict is None or run.facts is not found.facts:
        return run.verdict
    return snapshot.add_session_turns(found.looker, [run.verdict], output.print_warning)[0]


def _as_json(found: JobHistory, run: JobRun) -> str:
    verdict = _judge_run(found, run)
    head = {
        "schema": verdict_json.SCHEMA,
        "name": found.name,
        "run": run.run or None,
        "verdict": verdict and verdict_json.verdict_fields(verdict, NEXT[verdict.state]),
        "record": run.record and redact_record(run.record),
    }
    return f'{dump(head)[:-1]},"events":[{",".join(map(journal_codec.encode_event, run.events))}]}}'


# For people -----------------------------------------------------------------------------------------------------


def _format_run(found: JobHistory, run: JobRun, count: int | None) -> Iterator[str]:
    yield _format_verdict(found, run)
    record = run.facts.record if run.facts else None
    about = [("run", run.run), *(_record_fields(record) if record else _file_fields(found, run))]
    yield from (f"  {word:<10} {visible(text)}" for word, text in about if text)
    if shown := _limit_events(run, count).events:
        left = len(run.events) - len(shown)
        yield f"  timeline{f' (without the first {left} of {len(run.events)} events)' if left else ''}:"
        yield from _format_timeline(shown, run.events[0], record)
    earlier = found.runs[: found.runs.index(run.run)]
    if earlier:
        more = len(earlier) - EARLIER
        yield f"  earlier runs{f' (and {more} more; --json tells of all)' if more > 0 else ''}:"
        yield from (_format_earlier_run(found, found.run(each)) for each in reversed(earlier[-EARLIER:]))


def _format_verdict(found: JobHistory, run: JobRun) -> str:
    verdict = _judge_run(found, run)
    return f"{found.name}: {_format_end(run)}; its files are gone" if verdict is None else output.format_line(verdict)


def _format_end(run: JobRun) -> str:
    """How a run ended, as its last event has it."""
    ended = [journal_codec.event_body(event) for event in run.events if event.event == "ended"]
    return colour_words("ended", ended[-1]) if ended else "how it ended was not written down"


def _record_fields(record: Record) -> Iterator[tuple[str, str]]:
    yield "command", shlex.join(redact_words(record.command))
    yield "in", record.cwd
    yield "started", _format_clock(record.started)
    yield "policy", _format_policy(record.policy)
    if record.retries:
        yield "retries", f"up to {record.retries}, the first after {format_duration(record.backoff_s)}"
    for attempt in record.attempts:
        yield "attempt", f"{attempt.number}: {attempt.end.state}: {end_in_words(attempt.end, record.policy)}"
    if record.end is not None:
        yield "ended", f"{_format_clock(record.end.at)}, {record.end.state}: {end_in_words(record.end, record.policy)}"
    for note in record.notes:
        yield "note", note.line()


def _file_fields(found: JobHistory, run: JobRun) -> Iterator[tuple[str, str]]:
    if run.facts is None:
        return
    base = f"{found.looker.directory}/{found.name}"
    there = [suffix for suffix in SUFFIXES if os.path.lexists(f"{base}.{suffix}")]
    yield "record", "none that can be read" if "json" in there else "none: Midwatch did not start it"
    yield "files", ", ".join(f"{found.name}.{suffix}" for suffix in there)
    if run.facts.elapsed_s is not None:
        yield "started", f"{format_duration(float(int(run.facts.elapsed_s)))} ago, as its pid file says"


def _format_policy(policy: Policy) -> str:
    if not policy.progress:
        return f"{policy.name}: its silence is judged from its pane and its own files, by whoever watches it"
    stuck = f"suspected after {format_duration(policy.stale_s)} without {', '.join(policy.progress)}"
    done = "then stopped" if policy.on_stuck == "stop" else "which is reported"
    ends = f"ended after {format_duration(policy.timeout_s)}" if policy.timeout_s is not None else "no timeout"
    return f"{policy.name}: {stuck}, stuck {format_duration(policy.grace_s)} later, {done}; {ends}"


def _format_timeline(shown: list[Event], first: Event, record: Record | None) -> Iterator[str]:
    """Seconds since the start: monotonic where the event says so, because clocks are set."""
    began = record.started if record else first.at
    began_mono = record.started_mono if record else journal_codec.event_body(first).get("mono")
    for event in shown:
        said = journal_codec.event_body(event)
        mono, since = said.get("mono"), event.at - began
        if isinstance(mono, int | float) and isinstance(began_mono, int | float):
            since = mono - began_mono
        after = f"+{format_duration(round(max(0.0, since), 1))}"
        yield f"    {after:>8}  {event.event:<10} {colour_words(event.event, said)}".rstrip()


def _format_earlier_run(found: JobHistory, run: JobRun) -> str:
    """One line for an earlier run: which, when, how it ended."""
    record = run.facts.record if run.facts else None
    began = record.started if record else run.events[0].at if run.events else None
    verdict = _judge_run(found, run)
    how = (
        _format_end(run)
        if verdict is None
        else f"{output.colour_state(verdict.state)}: {visible(redact(verdict.reason))}"
    )
    return f"    {visible(run.run) or '-':<20} {_format_clock(began) if began is not None else '':<19}  {how}"


def _format_clock(at: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
    except (OverflowError, ValueError, OSError):  # a record may be another's, and say anything
        return f"at {at:g}"
