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
from midwatch.core.numbers import whole_number
from midwatch.core.verdict import Verdict
from midwatch.preflight import machine, run
from midwatch.sessions import spawn as sessions_spawn
from midwatch.sessions.model import DEADLINE
from midwatch.stories import model as stories_model
from midwatch.stories import parse as stories_parse
from midwatch.stories.codec import model_answer
from midwatch.stories.model import Parsed, Tally
from midwatch.stories.step import Stepper, StepPlan, StepResult, not_started
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
        result = _carried_out(options)
    except (RefusedError, FormatError) as error:
        result = not_started(str(error), options.text("--step") or "")
    show = _json if options.flag("--json") else _line
    print(show(options.names[0], result, time.monotonic() - began), flush=True)
    if result.asked == signal.SIGINT and result.ended.state in ("stopped", "abandoned"):
        return INTERRUPTED
    return result.exit_code


def _carried_out(options: Options) -> StepResult:
    plan = _plan(options)
    if options.flag("--preflight") and (failed := _broken(options, plan)):
        return not_started(failed, plan.step)
    looker, policy = context.looker(options), context.policy(options)
    return Stepper(looker, policy, plan, _tell, lambda text: _say(f"{plan.wish.name}: {text}")).run()


def _plan(options: Options) -> StepPlan:
    wish, prompt = spawn.wish_of(options), spawn.prompt_of(options)
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
    crashes = _count(options, "--crash-retries", 0, stories_model.CRASH_RETRIES)
    cycles = _count(options, "--cycles", 1, stories_model.REVIEW_CYCLES)
    return StepPlan(
        wish, prompt, step, options.text("--creates") or "", _reader(options, step),
        DEADLINE if deadline is None else deadline, Tally(crashes, cycles), options.flag("--keep"),
    )  # fmt: skip


def _reader(options: Options, step: str) -> Callable[[str], Parsed] | None:
    if not step or options.flag("--no-parse"):
        return None
    if options.flag("--rules"):
        return lambda text: stories_parse.parse_by_rules(text, step)
    command = stories_parse.command_for(paths.project(os.getcwd()))
    return lambda text: stories_parse.parse(text, step, command)


def _count(options: Options, flag: str, least: int, default: int) -> int:
    given = options.text(flag)
    if given is None:
        return default
    count = whole_number(given)
    if count is None or not least <= count <= MOST:
        raise UsageError(f"{flag} is a number from {least} to {MOST}, not {given!r}")
    return count


# Before it begins


def _broken(options: Options, plan: StepPlan) -> str:
    """What is wrong with the environment: the project's own checks, and what every step needs."""
    project, given = paths.project(os.getcwd()), context.settings(options)
    needed = [PreflightCheck("command", sessions_spawn.known(plan.wish.agent).command[0], plan.wish.agent.title)]
    if not machine.has_tmux():
        needed.append(PreflightCheck("tmux", ".".join(map(str, OLDEST)), "tmux"))
    if plan.read is not None and not options.flag("--rules"):
        needed += _needed_to_read(stories_parse.command_for(project))
    given = given._replace(checks=(*needed, *given.checks))
    found = run.look(project, given, state=paths.directory(options.text("--dir")))
    return run.summary([*found, *run.unwritable(plan.wish.cwd)])


def _needed_to_read(command: str) -> list[PreflightCheck]:
    """The program that asks a model, as far as a shell's command line tells which it is."""
    program = next((word for word in command.split() if not VARIABLE.match(word)), "")
    if not PROGRAM.fullmatch(program):
        return []
    there = f"command -v {program} >/dev/null || {{ echo {program} is not in PATH; exit 127; }}"
    return [PreflightCheck("run", there, "what reads its output")]


# What is said


def _json(name: str, result: StepResult, elapsed: float) -> str:
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


def _line(name: str, result: StepResult, _: float) -> str:
    action = result.next.action
    shown = f"\033[{COLOURS[action]}m{action}\033[0m" if output.colours_wanted(1) else action
    return f"{name}: {output.coloured(result.ended.state)}, {shown}: {result.next.why}"


def _tell(verdict: Verdict) -> None:
    _say(output.as_line(verdict))


def _say(text: str) -> None:
    """While it goes on, for whoever sits there; that nobody does any more is no reason to break off."""
    with contextlib.suppress(OSError):
        output.remark(text)
