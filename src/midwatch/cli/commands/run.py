"""`midwatch run`: start a job, in the foreground or detached."""

from __future__ import annotations

import os

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core import names
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.job_model import Breaker
from midwatch.core.numbers import parse_whole_number
from midwatch.core.redaction import redact
from midwatch.core.text import visible
from midwatch.jobs import launch, start
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.wait_state import JobWatchState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from midwatch.cli.terminal_status import TerminalStatus

REFUSED, TIMED_OUT, INTERRUPTED = 125, 124, 130
MOST_RETRIES = 1000
SHELL_MARKS = ("&&", "||", "|", ";", ">", "<", "$", "`", "&", "*", "\n", " ")
"""What a shell reads in a line, and no name of a program is likely to have."""
IDLE = 1.0
"""Seconds of silence after which the live line is drawn."""


def main(options: Options) -> int:
    if not options.command:
        raise UsageError("what is to be run? `midwatch run -- CMD…`")
    for fd in (0, 1, 2):
        ensure_open(fd)
    looker, run = context.job_observer(options), launch.new_run_id()
    job = launch.JobSpec(
        directory=looker.directory,
        name=names.check_name(options.text("--name") or names.derive_name(options.command[0], run)),
        run=run,
        command=options.command,
        cwd=_find_directory(options.text("--cwd")),
        env=parse_variables(options.each("--env")),
        policy=looker.policy,
        foreground=not options.flag("-d"),
        **safeguard_options(options),
    )
    if options.flag("-d"):
        return start_detached(job, looker, json=options.flag("--json"))
    return _foreground(job, looker, json=options.flag("--json"))


def print_shell_hint(command: list[str]) -> None:
    """A line for a shell, given as one word, is no program; whoever typed it meant a shell to read it."""
    if len(command) == 1 and any(mark in command[0] for mark in SHELL_MARKS):
        import shlex  # only for what looks like such a line

        line = shlex.quote(visible(redact(command[0])))
        output.print_remark(f"if a shell is to read that: midwatch run -- sh -c {line}")


def safeguard_options(options: Options) -> dict[str, Any]:
    """What keeps a loop from burning a night: retries, the breaker, and a look at the environment before it starts."""
    given = context.read_settings(options)
    wanted = options.text("--retries")
    retries = None if wanted is None else parse_whole_number(wanted)
    if wanted is not None and (retries is None or not 0 <= retries <= MOST_RETRIES):
        raise UsageError(f"{options.label('--retries')} is a number from 0 to {MOST_RETRIES}, not {wanted!r}")
    backoff = options.seconds("--backoff")
    key = options.text("--breaker")
    if options.flag("--preflight") or given.preflight:
        from midwatch.preflight import run as preflight_run

        preflight_run.require_checks(
            paths.project_root(paths.current_directory()), given, paths.sentinel_directory(options.text("--dir"))
        )
    return {
        "retries": given.retries if retries is None else retries,
        "backoff_s": given.backoff_s if backoff is None else backoff,
        "breaker": Breaker(names.check_name(key), given.breaker_threshold, given.breaker_cooldown_s) if key else None,
        "notify": paths.project_root(paths.current_directory()) if given.channels or given.mqtt else "",
    }


def ensure_open(fd: int) -> None:
    """A caller may have closed its standard streams; what we open must not take their places."""
    try:
        os.fstat(fd)
    except OSError:
        os.open(os.devnull, os.O_RDWR)


def _find_directory(given: str | None) -> str:
    path = os.path.normpath(os.path.join(paths.current_directory(), given or ""))
    if not os.path.isdir(path):
        raise UsageError(f"--cwd: there is no directory {path}")
    return path


def parse_variables(given: list[str]) -> dict[str, str]:
    """What --env says. A name alone stands for our own variable: its value need not stand on a command line."""
    found = {}
    for pair in given:
        name, there, value = pair.partition("=")
        if not name or not (there or name in os.environ):
            told = f"{name} is not set here" if name else f"not {pair!r}"
            raise UsageError(f"--env takes NAME=VALUE, or the NAME of a variable that is set; {told}")
        found[name] = value if there else os.environ[name]
    return found


def start_detached(job: launch.JobSpec, looker: JobDirectory, *, json: bool, feed: bytes = b"") -> int:
    """Start a job that outlives us, with something to read, and say so."""
    said = start.start_detached(job, looker, feed=feed)
    verdict = looker.verdict(job.name)
    if said[0] == "ended" and verdict.exit_code and verdict.cause == "not-started":
        output.print_remark(f"{redact(job.command[0])}: {redact(verdict.reason)}")
        print_shell_hint(job.command)
        return verdict.exit_code
    print(output.as_json(verdict) if json else job.name)
    return 0


def _foreground(job: launch.JobSpec, looker: JobDirectory, *, json: bool) -> int:
    """Report to the caller's terminal before the work has it and after, and between only while the live line stands
    there: what the work writes may be half an escape sequence, into which nothing of ours must fall. At the end half a
    sequence does no harm, because a report begins with the character that breaks it off.
    """
    if not os.isatty(2):
        return _relay(job, looker, None, json=json)
    from midwatch.cli.terminal_status import open_status

    status = open_status(keeps_typed=os.isatty(0) and os.isatty(1))
    try:
        return _relay(job, looker, status, json=json)
    finally:
        status.close()


def _relay(job: launch.JobSpec, looker: JobDirectory, status: TerminalStatus | None, *, json: bool) -> int:
    from midwatch.cli.progress_line import ProgressLine
    from midwatch.jobs.foreground_relay import ForegroundRelay
    from midwatch.jobs.foreground_streams import open_streams

    leave = start.acquire_permit(job, looker)
    launched = False
    try:
        log = start.open_log(job)
        streams = open_streams()
        if status:
            status.start(job.name)
        shim = launch.launch_shim(job, leave.lease, streams.stdio, tty=streams.terminal >= 0)
        launched = True
    finally:
        leave.close(launched=launched)
    for fd in set(streams.stdio):
        os.close(fd)
    relay = ForegroundRelay(shim, streams, log, typed=status.typed if status else b"")
    live = ProgressLine(looker.verdict, status.ongoing if status else None)

    def idle() -> None:
        if relay.plain():
            live.draw([job.name])

    ending = relay.run(IDLE if os.isatty(2) else 3600.0, idle if os.isatty(2) else lambda: None, live.clear)
    verdict = looker.verdict(job.name, JobWatchState(held=relay.held) if relay.held else None)
    if ending is not None and ending[0] == "refused":
        raise RefusedError(f"cannot write to {job.directory}: {ending[1]}")
    if status:
        status.run_outcome(verdict)
        status.finish()
    if ending is None:
        output.print_verdict_remark(verdict, before="its shim was killed; ")
        return REFUSED
    if verdict.cause == "not-started":
        print_shell_hint(job.command)
    if json:
        print("" if relay.line_start else "\n", output.as_json(verdict), sep="", flush=True)
    elif verdict.cause == "not-started":
        output.print_remark(f"{redact(job.command[0])}: {redact(verdict.reason)}")
    elif verdict.state != "completed" and (os.isatty(2) or _exit_code(ending) in (TIMED_OUT, REFUSED)):
        output.print_verdict_remark(verdict)  # these codes are ours, not the command's
    return _exit_code(ending)


def _exit_code(ending: list[str]) -> int:
    _, state, code, number, cause, _ = ending
    if state == "timeout":
        return TIMED_OUT
    if state == "stopped" and cause == "interrupt":
        return INTERRUPTED
    if state in ("stopped", "stuck"):
        return REFUSED
    return 128 + int(number) if number != "None" else int(code)
