"""`midwatch wait`: one blocking call, one line per job, an exit code that says it all."""

from __future__ import annotations

import os

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import STILL_RUNNING, exit_code
from midwatch.core.policy import POLICIES
from midwatch.jobs.wait_model import UNTIL, WaitOptions, WaitOutcome
from midwatch.subjects.wait import Wait

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re


def main(options: Options) -> int:
    looker, names = context.looker(options), context.named(options)
    wanted = WaitOptions(
        until=options.choice("--until", UNTIL),
        match=_pattern(options.text("--match")),
        start_s=options.seconds("--start") or 0.0,
        timeout_s=options.seconds("--timeout"),
        verify=_check(options.text("--verify")),
    )
    codes: dict[str, int] = {}
    waiting = Wait(looker, names, wanted)
    if _may_end(options, looker.directory):
        from midwatch.subjects.strict_wait import StrictWait

        waiting.enforcement = StrictWait(looker)
    live = status = None
    if os.isatty(2):
        from midwatch.cli.progress_line import LiveLine
        from midwatch.cli.terminal_status import open_status

        status = open_status()
        live = LiveLine(waiting.live, status.ongoing)
    try:
        for outcome in waiting.outcomes(live.draw if live else None):
            if live:
                live.clear()
            outcome = waiting.verified(outcome)  # noqa: PLW2901
            output.show(outcome.verdict, json=options.flag("--json"))
            codes[outcome.verdict.name] = code = code_of(outcome)
            if status:
                status.outcome(outcome.verdict, code)
            if options.flag("--any"):
                break
        if status:
            status.finish()
    finally:
        if live:
            live.clear()
        if status:
            status.close()
    return next((code for code in (codes.get(name, 0) for name in names) if code), 0)


def _may_end(options: Options, directory: str) -> bool:
    """Whether this wait ends what hangs or takes too long. Only the command line can say so, never a variable."""
    policy = options.choice("--policy", tuple(POLICIES))
    strict = policy == "strict"
    if policy and not options.flag("--dir"):
        raise UsageError("--policy is for the steps of a script's directory: add --dir D (a job has its own policy)")
    if options.flag("--work-timeout") and not strict:
        raise UsageError("--work-timeout ends the work; add --policy strict if that is meant")
    if strict and (others := paths.shared_with_others(directory)):
        raise RefusedError(f"{others}: nothing named there is signalled; wait without --policy strict")
    return strict


def _check(given: str | None) -> str:
    """A check that can be made, as it was given; empty where none was."""
    if given is None:
        return ""
    from midwatch.verification import codec as verification_codec

    return verification_codec.worded(verification_codec.parse(given))


def code_of(outcome: WaitOutcome) -> int:
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
