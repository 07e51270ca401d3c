"""`dogwatch wait`: one blocking call, one line per job, an exit code that says it all."""

from __future__ import annotations

import os

from dogwatch.cli import say, settings
from dogwatch.cli.options import Options
from dogwatch.judge.consequences import STILL_RUNNING, exit_code
from dogwatch.loops.wait import Outcome, Wait, Wanted
from dogwatch.model.errors import UsageError
from dogwatch.model.verdict import FINAL, LIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

    from dogwatch.loops.look import Looker
    from dogwatch.model.verdict import Verdict


def main(options: Options) -> int:
    looker, names = settings.looker(options), settings.named(options)
    wanted = Wanted(
        until=options.choice("--until", ("final", *LIVE, *FINAL)),
        match=_pattern(options.text("--match")),
        start_s=options.seconds("--start") or 0.0,
        timeout_s=options.seconds("--timeout"),
    )
    check = _check(options.text("--verify"))
    codes: dict[str, int] = {}
    waiting = Wait(looker, names, wanted)
    live = None
    if os.isatty(2):
        from dogwatch.cli.live import LiveLine

        live = LiveLine(looker)
    try:
        for outcome in waiting.outcomes(live.draw if live else None):
            if live:
                live.clear()
            if outcome.verdict.state == "completed":
                outcome = outcome._replace(verdict=_verified(outcome.verdict, looker, check))  # noqa: PLW2901
            say.show(outcome.verdict, json=options.flag("--json"))
            codes[outcome.verdict.name] = code_of(outcome)
            if options.flag("--any"):
                break
    finally:
        if live:
            live.clear()
    return next((code for code in (codes.get(name, 0) for name in names) if code), 0)


def _check(given: str | None) -> str:
    """A check that can be made, as it was given; empty where none was."""
    if given is None:
        return ""
    from dogwatch.formats import verifiers

    return verifiers.worded(verifiers.parse(given))


def _verified(verdict: Verdict, looker: Looker, check: str) -> Verdict:
    """Whether the work is there, by what is given here or was when it was started."""
    record = looker.facts(verdict.name).record
    if record is None or not (check or record.verify):
        return verdict
    from dogwatch.loops import verify  # few have anything to be verified by

    return verify.of_record(verdict, record, looker.directory, check)


def code_of(outcome: Outcome) -> int:
    if outcome.how == "timeout":
        return STILL_RUNNING
    return 0 if outcome.how == "match" else exit_code(outcome.verdict.state)


def _pattern(given: str | None) -> re.Pattern[str] | None:
    if given is None:
        return None
    import re

    try:
        return re.compile(given)
    except re.error as error:
        raise UsageError(f"--match {given!r} is not a regular expression: {error}") from None
