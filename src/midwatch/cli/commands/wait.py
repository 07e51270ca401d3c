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
from midwatch.subjects.wait import SubjectWait

FEW = 3
"""Names that are said in full."""
TYPE_CHECKING = False
if TYPE_CHECKING:
    import re


def main(options: Options) -> int:
    looker, names = context.job_observer(options), context.job_names(options)
    wanted = WaitOptions(
        until=options.choice("--until", UNTIL),
        match=_compile_pattern(options.text("--match")),
        start_s=options.seconds("--start") or 0.0,
        timeout_s=options.seconds("--timeout"),
        verify=_parse_check(options.text("--verify")),
    )
    codes: dict[str, int] = {}
    waiting = SubjectWait(looker, names, wanted)
    if _is_strict(options, looker.directory):
        from midwatch.subjects.strict_wait import StrictWait

        waiting.enforcement = StrictWait(looker)
    live = status = None
    if os.isatty(2):
        from midwatch.cli.progress_line import ProgressLine
        from midwatch.cli.terminal_status import open_status

        status = open_status()
        live = ProgressLine(waiting.live, status.ongoing)
    try:
        for outcome in waiting.outcomes(live.draw if live else None):
            if live:
                live.clear()
            outcome = waiting.verified(outcome)  # noqa: PLW2901
            output.print_verdict(outcome.verdict, json=options.flag("--json"))
            codes[outcome.verdict.name] = code = exit_code_for(outcome)
            if status:
                status.outcome(outcome.verdict, code)
            if options.flag("--any"):
                break
        if status:
            status.finish()
    except KeyboardInterrupt:
        if live:
            live.clear()
        output.print_remark(format_interrupted([name for name in names if name in waiting.pending]))
        raise
    finally:
        if live:
            live.clear()
        if status:
            status.close()
    return next((code for code in (codes.get(name, 0) for name in names) if code), 0)


def _is_strict(options: Options, directory: str) -> bool:
    """Whether this wait ends what hangs or takes too long. Only the command line can say so, never a variable."""
    policy = options.choice("--policy", tuple(POLICIES))
    strict = policy == "strict"
    if policy and not options.flag("--dir"):
        raise UsageError("--policy is for the steps of a script's directory: add --dir D (a job has its own policy)")
    if options.flag("--work-timeout") and not strict:
        raise UsageError("--work-timeout ends the work; add --policy strict if that is meant")
    if strict and (others := paths.find_sharing(directory)):
        raise RefusedError(f"{others}: nothing named there is signalled; wait without --policy strict")
    return strict


def _parse_check(given: str | None) -> str:
    """A check that can be made, as it was given; empty where none was."""
    if given is None:
        return ""
    from midwatch.verification import codec as verification_codec

    return verification_codec.format_check(verification_codec.parse_check(given))


def format_interrupted(names: list[str]) -> str:
    """What a person wants to know who has pressed Ctrl-C: only the wait has ended."""
    if not names:
        return "the wait was ended"
    shown = " ".join(names) if len(names) <= FEW else f"{' '.join(names[:FEW])} …"
    goes, them = ("continues", "it") if len(names) == 1 else ("continue", "them")
    return f"the wait was ended, {shown} {goes}; `midwatch stop {shown}` stops {them}"


def exit_code_for(outcome: WaitOutcome) -> int:
    if outcome.how == "timeout":
        return STILL_RUNNING
    return 0 if outcome.how == "match" else exit_code(outcome.verdict.state)


def _compile_pattern(given: str | None) -> re.Pattern[str] | None:
    if given is None:
        return None
    import re

    try:
        return re.compile(given)
    except re.error as error:
        raise UsageError(f"--match {given!r} is not a regular expression: {error}") from None
