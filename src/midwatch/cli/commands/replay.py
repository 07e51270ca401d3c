"""`midwatch replay`: recorded evidence judged again, and what was given beside what is said now."""

from __future__ import annotations

import os
import sys

from midwatch.cli import output
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core import names
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.json_text import dump
from midwatch.core.policy import PATIENT, POLICIES, PROGRESS_SOURCES
from midwatch.core.text import format_duration, visible
from midwatch.jobs.job_directory import JobDirectory
from midwatch.replay import replay
from midwatch.replay.model import OtherPolicy, ReplayRow
from midwatch.replay.replay import RecordedVerdict, ReplayNote

SCHEMA = 1
COLOURS = {"=": "2", "≠": "33", "?": "35", " ": "2"}
INDENT = " " * 14
GIVEN = ("as they were given", "as given", "otherwise")
TRUE = ("true", "true", "not true")
OTHER = ("the same", "the same", "would be otherwise")
"""What a summary says of verdicts, beside those given, beside the truth and under another policy."""


def main(options: Options) -> int:
    if len(options.names) != 1:
        raise UsageError("replay needs one file, or the name of one job; `midwatch ls` lists them")
    otherwise = _parse_other_policy(options)
    what = options.names[0]
    if what != "-" and not (os.path.exists(what) and not os.path.isdir(what)):
        return _replay_job(options, what, otherwise)
    try:
        with open(0 if what == "-" else what, "rb", closefd=what != "-") as file:
            return _print_replay(
                options, replay.replay_file(file, "standard input" if what == "-" else what, otherwise), otherwise
            )
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise RefusedError(f"cannot read {what}: {error.strerror}") from error


def _replay_job(options: Options, name: str, otherwise: OtherPolicy | None) -> int:
    if names.find_problem(name):
        raise RefusedError(f"there is no file {name}")
    looker = JobDirectory(paths.sentinel_directory(options.text("--dir")), PATIENT)
    found = replay.replay_recorded_job(looker, name, otherwise)
    if found is None:
        output.print_remark(f"there is no file {name}, and no event of a job {name} is known")
        return EXIT_CODES["not_found"]
    return _print_replay(options, found, otherwise)


# Another policy -----------------------------------------------------------------------------------------------------


def _parse_other_policy(options: Options) -> OtherPolicy | None:
    """The policy that is asked for: a whole one, or some changes. The environment has no say in what is past."""
    name = options.choice("--policy", tuple(POLICIES))
    changes: dict[str, object] = {}
    for flag, field in (("--stale", "stale_s"), ("--grace", "grace_s"), ("--timeout", "timeout_s")):
        seconds = options.seconds(flag)
        if seconds is not None:
            changes[field] = seconds
        if seconds == 0 and flag != "--grace":
            raise UsageError(f"{flag} must be above 0")
    if action := options.choice("--on-stuck", ("report", "stop")):
        changes["on_stuck"] = action
    if (given := options.text("--progress")) is not None:
        wanted = [source.strip() for source in given.split(",")]
        if odd := [source for source in wanted if source not in PROGRESS_SOURCES]:
            raise UsageError(f"--progress takes {', '.join(PROGRESS_SOURCES)}, not {odd[0]!r}")
        changes["progress"] = tuple(source for source in PROGRESS_SOURCES if source in wanted)
    return OtherPolicy(POLICIES[name] if name else None, changes) if name or changes else None


# Telling ------------------------------------------------------------------------------------------------------------


def _print_replay(options: Options, found: replay.Found, otherwise: OtherPolicy | None) -> int:
    marks = dict.fromkeys(COLOURS, 0)
    whose, why, words = None, "", TRUE
    for each in found:
        if isinstance(each, ReplayNote):
            output.print_remark(each.says)
            continue
        row = each.row
        marks[row.mark] += row.now is not None
        words = OTHER if otherwise else GIVEN if row.given else words
        if options.flag("--json"):
            print(_as_json(each))
            continue
        if (each.name, each.run) != whose:
            whose, why = (each.name, each.run), ""
            print(visible(f"{each.name}{f', run {each.run}' if each.run else ''}:"))
        lines = _as_lines(row._replace(uncertain="") if row.uncertain == why else row, row.mark)
        why = row.uncertain or why
        print("\n".join(lines))
    print(
        visible(_summary(marks, _format_other_policy(options), *words)),
        file=sys.stderr if options.flag("--json") else sys.stdout,
    )
    return 1 if marks["≠"] and otherwise is None else 0


def _format_other_policy(options: Options) -> str:
    """The other policy as it was asked for."""
    flags = ("--policy", "--stale", "--grace", "--timeout", "--on-stuck", "--progress")
    return " ".join(f"{flag} {options.text(flag)}" for flag in flags if options.flag(flag))


def _as_json(told: RecordedVerdict) -> str:
    row = told.row
    same = None if row.mark in " ?" else row.mark == "="
    found: dict[str, object] = {
        "schema": SCHEMA, "name": told.name, "run": told.run or None, "attempt": row.attempt, "at": round(row.at, 3),
        "event": row.event, "given": row.given, "now": row.now, "same": same, "uncertain": row.uncertain or None,
        "note": row.note or None,
    }  # fmt: skip
    if row.truth is not None:
        found["truth"] = row.truth
    return dump(found)


def _as_lines(row: ReplayRow, mark: str) -> list[str]:
    shown = f"\033[{COLOURS[mark]}m{mark}\033[0m" if output.uses_colour(1) else mark
    given, now = _format_verdict(row.given, row.event), _format_verdict(row.now, row.event)
    lines = [now or given or f"{row.event}: {row.note}"]
    if row.differs and row.given and row.now:
        same_word = _format_state(row.given) == _format_state(row.now)
        lines = [f"given: {given}", f"now:   {now}"] if same_word else [f"{_format_state(row.given)} → {now}"]
    elif row.differs and row.truth is not None:
        lines = [f"{now} (in truth {row.truth})"]
    lines += [f"uncertain: {row.uncertain}"] if row.uncertain else []
    lines += [row.note] if row.note and now else []
    heads = [f"{format_duration(round(row.at, 1)):>9}  {shown}  ", *[INDENT] * (len(lines) - 1)]
    return [head + visible(line) for head, line in zip(heads, lines, strict=True)]


def _format_verdict(said: dict[str, object] | None, event: str) -> str:
    """A verdict with its reason; where that was not noted, with the event that it was given at."""
    if not said:
        return ""
    reason = f": {said['reason']}" if said.get("reason") else f" ({event})" if event else ""
    return _format_state(said) + reason


def _format_state(said: dict[str, object]) -> str:
    """A verdict in a word or two."""
    word = "suspected" if said.get("progress") == "stalled" else str(said.get("state", ""))
    if said.get("stop"):
        return f"stopped ({word})"
    return f"{word} ({said['detail']})" if said.get("detail") else word


def _summary(marks: dict[str, int], asked: str, all_same: str, same: str, otherwise: str) -> str:
    whole = sum(marks.values())
    counted = f"{whole} verdict{'s' if whole != 1 else ''}{f' with {asked}' if asked else ''}"
    if marks["="] == whole:
        return f"{counted}, all {all_same}"
    if marks[" "] == whole:
        return f"{counted}; there is nothing to compare them with"
    parts = [f"{marks['=']} {same}", f"{marks['≠']} {otherwise}", *([f"{marks['?']} uncertain"] if marks["?"] else [])]
    return f"{counted}: {', '.join(parts)}"
