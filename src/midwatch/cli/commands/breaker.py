"""`midwatch breaker`: what stands between a failing loop and the rest of the night."""

import os
import sys
import time

from midwatch.breaker import store as breaker_store
from midwatch.breaker.model import Closed, Open, TrialRun, Trip, Tripped
from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.core import names
from midwatch.core.errors import UsageError
from midwatch.core.job_model import Breaker
from midwatch.core.json_text import dump
from midwatch.jobs import admission
from midwatch.jobs.job_directory import JobDirectory

SCHEMA = 1
WORDS = ("status", "reset", "trip")
COLOURS = {"closed": "32", "open": "31", "trial": "33"}


def main(options: Options) -> int:
    word, keys = "status", options.names
    if keys and keys[0] in WORDS:
        word, *keys = keys
    keys = [names.check_name(key) for key in dict.fromkeys(keys)]
    if word != "status" and not keys:
        raise UsageError(f"{word} needs the key of a breaker; `midwatch breaker status` lists them")
    if options.flag("--reason") and word != "trip":
        raise UsageError("--reason belongs to trip")
    looker, given = context.job_observer(options), context.read_settings(options)
    rules = [
        Breaker(key, given.breaker_threshold, given.breaker_cooldown_s)
        for key in keys or breaker_store.list_keys(looker.directory)
    ]
    for key, each in zip(keys, rules, strict=False):
        if word == "reset":
            admission.reset_breaker(looker, each)
            _record_event(looker, key, "breaker reset", "")
        elif word == "trip":
            reason = options.text("--reason") or ""
            admission.record_event(looker.directory, key, Trip(time.time(), reason))
            _record_event(looker, key, "breaker tripped", reason)
    shut = _print_breakers(looker, rules, json_lines=options.flag("--json"))
    return 1 if shut and word == "status" else 0


def _record_event(looker: JobDirectory, key: str, event: str, reason: str) -> None:
    from midwatch.journal import journal  # to look at a breaker costs no database

    journal.record_event(looker.directory, key, "", event, reason=reason)


def _print_breakers(looker: JobDirectory, rules: list[Breaker], *, json_lines: bool) -> bool:
    """Tell of each breaker. Returns whether one of them would let nothing through now."""
    if not rules and not json_lines:
        print("no breakers here; `midwatch run --breaker KEY -- CMD` makes one", file=sys.stderr)
    shut, width = False, max([len(each.key) for each in rules] + [3])
    for number, each in enumerate(rules):
        standing = admission.read_status(looker, each)
        if standing.wrong:
            lines = "1 line" if len(standing.wrong) == 1 else f"{len(standing.wrong)} lines"
            where = f"breakers/{each.key}.jsonl"
            output.print_remark(f"{where}: {lines} passed over: {standing.wrong[-1]}")
        found = _fields(standing, each)
        shut |= found["next"] not in ("run", "trial")
        if json_lines:
            print(dump(found, spaced=True))
            continue
        if number == 0:
            print(f"{'KEY':<{width}}  {'STATE':<6}  REASON")
        print(
            f"{each.key:<{width}}  {_colour_state(str(found['state']))}  {_shorten(str(found['reason']), width + 10)}"
        )
    return shut


def _fields(standing: admission.BreakerStatus, rules: Breaker) -> dict[str, object]:
    state = standing.ledger.state
    word, failures, since = "open", 0, None
    match state:
        case Closed():
            word, failures = "closed", state.failures
        case Open():
            failures, since = state.failures, state.since
        case TrialRun(before=opened):
            word, failures, since = "trial", opened.failures, opened.since
        case Tripped():
            since = state.since
    return {
        "schema": SCHEMA, "key": rules.key, "state": word, "failures": failures, "threshold": rules.threshold,
        "since": since, "until": standing.until, "reason": standing.reason, "next": standing.next,
    }  # fmt: skip


def _colour_state(state: str) -> str:
    shown = f"{state:<6}"
    return f"\033[{COLOURS[state]}m{shown}\033[0m" if output.uses_colour(1) else shown


def _shorten(text: str, taken: int) -> str:
    room = max(10, os.get_terminal_size(1).columns - taken) if os.isatty(1) else 1 << 16
    return text if len(text) <= room else text[: room - 1] + "…"
