"""`midwatch step`: one step of work in one blocking call, from an agent's start to what is next."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import time

from midwatch.cli import context, output
from midwatch.cli.commands import parse, spawn
from midwatch.cli.commands.run import INTERRUPTED
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.config.model import PreflightCheck
from midwatch.core.errors import FormatError, RefusedError, UsageError
from midwatch.core.json_text import dump
from midwatch.core.numbers import parse_whole_number
from midwatch.core.verdict import Verdict
from midwatch.preflight import run
from midwatch.sessions import spawn as sessions_spawn
from midwatch.sessions.model import DEADLINE
from midwatch.stories import model as stories_model
from midwatch.stories import parse as stories_parse
from midwatch.stories.codec import model_answer
from midwatch.stories.model import ParsedLog, Tally
from midwatch.stories.step import StepPlan, StepResult, StepRunner, not_started
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec.commands import OLDEST

SCHEMA = 1
VARIABLE, PROGRAM = re.compile(r"[A-Za-z_]\w*="), re.compile(r"[\w./~+-]+", re.ASCII)
MOST = 1000
COLOURS = {"proceed": "32", "retry": "33", "escalate": "31"}
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def main(options: Options) -> int:
    began = time.monotonic()
    try:
        result = _run_step(options)
    except (RefusedError, FormatError) as error:
        result = not_started(str(error), options.text("--step") or "")
    show = _format_json if options.flag("--json") else _format_line
    print(show(options.names[0], result, time.monotonic() - began), flush=True)
    if result.asked == signal.SIGINT and result.ended.state in ("stopped", "abandoned"):
        return INTERRUPTED
    return result.exit_code


def _run_step(options: Options) -> StepResult:
    plan = _parse_plan(options)
    if options.flag("--preflight") and (failed := _find_preflight_problem(options, plan)):
        return not_started(failed, plan.step)
    looker, policy = context.job_observer(options), context.read_policy(options)
    return StepRunner(
        looker, policy, plan, _print_verdict, lambda text: _print_progress(f"{plan.wish.name}: {text}")
    ).run()


def _parse_plan(options: Options) -> StepPlan:
    wish, prompt = spawn.parse_request(options), spawn.prompt_text(options)
    if not prompt.strip():
        raise UsageError("step needs --prompt or --prompt-file: what is the agent to do?")
    step = options.choice("--step", model_answer.STEPS) or ""
    for flag in ("--rules", "--no-parse"):
        if options.flag(flag) and not step:
            raise UsageError(f"{flag} says how the output of a step is read; say which with --step")
    if options.flag("--rules") and options.flag("--no-parse"):
        raise UsageError("--rules and --no-parse are two ways to ask no model; give one")
    deadline = options.seconds("--deadline")
    if deadline == 0:
        raise UsageError("--deadline must be above 0")
    crashes = _parse_count(options, "--crash-retries", 0, stories_model.CRASH_RETRIES)
    cycles = _parse_count(options, "--cycles", 1, stories_model.REVIEW_CYCLES)
    return StepPlan(
        wish, prompt, step, options.text("--creates") or "", _select_parser(options, step),
        DEADLINE if deadline is None else deadline, Tally(crashes, cycles), options.flag("--keep"),
    )  # fmt: skip


def _select_parser(options: Options, step: str) -> Callable[[str], ParsedLog] | None:
    if not step or options.flag("--no-parse"):
        return None
    if options.flag("--rules"):
        return lambda text: stories_parse.parse_by_rules(text, step)
    command = stories_parse.find_model_command(paths.project_root(os.getcwd()))
    return lambda text: stories_parse.parse_log(text, step, command)


def _parse_count(options: Options, flag: str, least: int, default: int) -> int:
    given = options.text(flag)
    if given is None:
        return default
    count = parse_whole_number(given)
    if count is None or not least <= count <= MOST:
        raise UsageError(f"{flag} is a number from {least} to {MOST}, not {given!r}")
    return count


# Before it begins


def _find_preflight_problem(options: Options, plan: StepPlan) -> str:
    """What is wrong with the environment: the project's own checks, and what every step needs."""
    project, given = paths.project_root(os.getcwd()), context.read_settings(options)
    needed = [
        PreflightCheck("command", sessions_spawn.resumable_rules(plan.wish.agent).command[0], plan.wish.agent.title)
    ]
    if not tmux_client.is_installed():
        needed.append(PreflightCheck("tmux", ".".join(map(str, OLDEST)), "tmux"))
    if plan.read is not None and not options.flag("--rules"):
        needed += _model_checks(stories_parse.find_model_command(project))
    given = given._replace(checks=(*needed, *given.checks))
    found = run.run_checks(project, given, state=paths.sentinel_directory(options.text("--dir")))
    return run.format_summary([*found, *run.unwritable(plan.wish.cwd)])


def _model_checks(command: str) -> list[PreflightCheck]:
    """The program that asks a model, as far as a shell's command line tells which it is."""
    program = next((word for word in command.split() if not VARIABLE.match(word)), "")
    if not PROGRAM.fullmatch(program):
        return []
    there = f"command -v {program} >/dev/null || {{ echo {program} is not in PATH; exit 127; }}"
    return [PreflightCheck("run", there, "what reads its output")]


# What is said


def _format_json(name: str, result: StepResult, elapsed: float) -> str:
    ended = result.ended
    read = json.loads(parse.as_json(ended.parsed)) if ended.parsed else None
    found = {
        "schema": SCHEMA, "name": name, "step": ended.step or None, "state": ended.state, "reason": ended.reason,
        "verified": ended.verified, "parsed": read, "created": ended.created,
        "attempts": result.attempts, "cycles": result.tally.cycles if result.attempts else 0,
        "output": result.output or None, "next_action": result.next.action, "why": result.next.why,
        "until": ended.until or None, "elapsed_s": round(elapsed, 3),
    }  # fmt: skip
    return dump(found)


def _format_line(name: str, result: StepResult, _: float) -> str:
    action = result.next.action
    shown = f"\033[{COLOURS[action]}m{action}\033[0m" if output.uses_colour(1) else action
    return f"{name}: {output.colour_state(result.ended.state)}, {shown}: {result.next.why}"


def _print_verdict(verdict: Verdict) -> None:
    _print_progress(output.format_line(verdict))


def _print_progress(text: str) -> None:
    """While it goes on, for whoever sits there; that nobody does any more is no reason to break off."""
    with contextlib.suppress(OSError):
        output.print_remark(text)
