"""`midwatch spawn`: a coding agent in a session of its own, or without one as a plain job."""

from __future__ import annotations

import os
import time

from midwatch.agents import catalog
from midwatch.cli import context, output
from midwatch.cli.commands.run import REFUSED, start_detached
from midwatch.cli.commands.send import CODES, drop_hidden_characters, read_prompt
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core import names
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.policy import PATIENT
from midwatch.core.redaction import redact
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.launch import JobSpec
from midwatch.notifications import report_change
from midwatch.sessions import monitor_job, spawn
from midwatch.sessions.agent_session import AgentSession
from midwatch.sessions.prompting.codec import text as sessions_text
from midwatch.system.end_signals import CommandSignals
from midwatch.tmux import sessions as hand
from midwatch.verification import codec as verification_codec

ONLY_WATCHED = ("--resume", "--on-limit", "--continues", "--deadline")
READY = 60.0
"""Seconds that an agent may take to come to its prompt."""


def main(options: Options) -> int:
    if options.flag("--register"):
        from midwatch.cli.commands import session_create

        return session_create.create(options)
    looker = context.job_observer(options)
    wish, prompt = parse_request(options), prompt_text(options)
    try:
        watch = watch_arguments(options)
        if options.flag("--headless"):
            return _spawn_headless(looker, wish, prompt, json=options.flag("--json"))
        return _spawn_session(looker, wish, prompt, watch, json=options.flag("--json"))
    except RefusedError as error:
        output.print_remark(str(error))
        return REFUSED


def parse_request(options: Options) -> spawn.SpawnRequest:
    if len(options.names) != 1:
        raise UsageError(f"{options.verb} needs one NAME, and --agent: midwatch {options.verb} api --agent claude")
    name = names.check_name(options.names[0])
    if name[0] in "=@":
        raise UsageError(f"the name {name!r} begins with {name[0]!r}, which means something else to tmux")
    known = {each.agent: each for each in catalog.load_all()}
    agent = options.text("--agent")
    if agent not in known:
        given = f", not {agent!r}" if agent else ""
        raise UsageError(f"{options.label('--agent')} is one of {', '.join(known)}{given}")
    cwd = os.path.abspath(options.text("--cwd") or ".")
    if not os.path.isdir(cwd):
        raise UsageError(f"{options.label('--cwd')}: there is no directory {cwd}")
    words = tuple(options.command or ())
    wish = spawn.SpawnRequest(
        name, known[agent], cwd, hand.server_arguments(options.text("--socket")), options.text("--model") or "",
        words, report_change.find_configured_project(paths.project_root(os.getcwd())), _parse_check(options),
        status=not options.flag("--no-status-protocol"),
    )  # fmt: skip
    if not wish.agent.any:
        return wish
    if not words or wish.model:
        example = f"midwatch {options.verb} api --agent {agent} -- ./work"
        raise UsageError(f"--agent {agent} needs a command after -- and takes no --model: {example}")
    return wish._replace(arguments=(), command=words, policy=context.read_policy(options))


def _parse_check(options: Options) -> str:
    """What is to tell that the work is there, as it was given."""
    given = options.text("--verify") or ""
    return verification_codec.format_check(verification_codec.parse_check(given)) if given else ""


def prompt_text(options: Options) -> str:
    """What is to be said, as it was given; empty where nothing was."""
    text, path = options.text("--prompt"), options.text("--prompt-file")
    if text is not None and path is not None:
        raise UsageError("--prompt and --prompt-file both give a prompt; give one")
    if path is not None:
        text = read_prompt("--prompt-file", path)
    if text is None:
        return ""
    text = drop_hidden_characters(options, text)
    return text if options.flag("--headless") else sessions_text.clean_prompt(text)


def watch_arguments(options: Options) -> list[str] | None:
    """What a monitor that is left behind is given; None where none is wanted."""
    given = [flag for flag in ONLY_WATCHED if options.flag(flag)]
    if not options.flag("--watch"):
        if given:
            watch = options.label("--watch")
            raise UsageError(f"{options.label(given[0])} is for the monitor that {watch} leaves behind; add {watch}")
        return None
    if options.flag("--headless"):
        watch = options.label("--watch")
        raise UsageError(f"{watch} is for a session; an agent without a terminal is a job: wait for it")
    from midwatch.cli.commands import monitor

    monitor.parse_options(options)
    return monitor.job_arguments(options)


def _spawn_session(
    looker: JobDirectory, wish: spawn.SpawnRequest, prompt: str, watch: list[str] | None, *, json: bool
) -> int:  # fmt: skip
    job, session = start_session(looker, wish, watch)
    try:
        code = deliver_prompt(session, prompt) if prompt else 0
        verdict = session.observe().verdict
    finally:
        session.close()
    if verdict.cause == "not-started":
        assert job.pane is not None
        hand.TmuxSessions(job.pane.server).close(job.pane)
        output.print_remark(f"{redact(job.command[0])}: {redact(verdict.reason)}")
        return verdict.exit_code or REFUSED
    print(output.as_json(verdict) if json else job.name)
    return code


def start_session(
    looker: JobDirectory, wish: spawn.SpawnRequest, watch: list[str] | None
) -> tuple[JobSpec, AgentSession]:
    """Start an agent, and the monitor that is left behind if one is wanted. RefusedError where nothing was started."""
    if watch is not None:
        monitor_job.await_last_monitor(looker, wish.name)
        monitor_job.refuse_second_monitor(looker, monitor_job.job_name(wish.name), wish.name)
    job = spawn.start_conversation(looker, wish)
    session = AgentSession(looker, job.name, PATIENT)
    if watch is not None and session.observe().verdict.cause != "not-started":
        monitor_job.start_monitor(looker, job.name, watch, watched=job.name)
    return job, session


def deliver_prompt(session: AgentSession, prompt: str) -> int:
    """Give it its prompt. Returns the exit code for what became of that."""
    name, asked = session.name, CommandSignals()
    if os.isatty(2):
        output.print_remark(f"{name} starts; its prompt is given as soon as it takes one …")
    with asked:
        sent = session.deliver(prompt, until=time.monotonic() + READY, stopped=asked.was_asked)
    if not sent.delivered:
        verdict = session.observe().verdict
        again = "" if sent.submitted or verdict.final else f"; `midwatch send {name} --file F` gives it later"
        how = f"{name} {verdict.state} ({verdict.reason}), and" if verdict.final else f"{name} runs, but"
        output.print_remark(f"{how} its prompt was not delivered: {sent.reason}{again}")
    return CODES.get(sent.outcome, REFUSED)


def _spawn_headless(looker: JobDirectory, wish: spawn.SpawnRequest, prompt: str, *, json: bool) -> int:
    how = spawn.resumable_rules(wish.agent)
    if not how.headless:
        raise RefusedError(f"nobody has written down how {wish.agent.title} runs without a terminal")
    if not prompt.strip():
        raise UsageError("--headless needs --prompt or --prompt-file: there is nobody to ask for it")
    job = spawn.build_headless_job(looker, wish, looker.policy)
    return start_detached(job, looker, json=json, feed=prompt.encode("utf-8", "surrogateescape"))
