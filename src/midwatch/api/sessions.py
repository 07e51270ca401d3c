"""Coding agents from Python: start one in a tmux session of its own, and watch it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from midwatch.api import jobs
from midwatch.api.arguments import KeywordOptions, job_name, open_directory, plain_word
from midwatch.api.prompts import visible_text
from midwatch.core.errors import MidwatchError, RefusedError, UsageError
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.notifications import send_pending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from midwatch.api.arguments import Duration, Job, Path
    from midwatch.sessions.monitor import SessionMonitor
    from midwatch.sessions.prompting.model import PromptResult
    from midwatch.sessions.spawn import SpawnRequest

READY = 60.0
"""Seconds that an agent may take to come to its prompt."""


class PromptError(MidwatchError):
    """An agent runs, but its first prompt was not delivered, or nothing proves that it was."""

    def __init__(self, verdict: Verdict, result: PromptResult) -> None:
        super().__init__(f"{verdict.name} is {verdict.state}; its prompt was not delivered: {result.reason}")
        self.verdict = verdict
        self.result = result

    def __reduce__(self) -> tuple[type, tuple[Verdict, PromptResult]]:
        return type(self), (self.verdict, self.result)


def spawn(  # noqa: PLR0913  # one for each flag of `midwatch spawn`
    name: str,
    *,
    agent: str,
    args: Sequence[str] = (),
    prompt: str | None = None,
    prompt_file: Path | None = None,
    verbatim: bool = False,
    dir: Path | None = None,  # noqa: A002  # called as the flag is
    cwd: Path | None = None,
    model: str | None = None,
    verify: str | None = None,
    socket: Path | None = None,
    status_protocol: bool = True,
    headless: bool = False,
    watch: bool = False,
    resume: int | None = None,
    on_limit: Literal["report", "wait"] | None = None,
    continues: int | None = None,
    deadline: Duration | None = None,
) -> Verdict:
    """Start a coding agent in a tmux session of its own, and give it a prompt. Returns its live state.

    ``watch`` leaves a monitor behind, as a job of its own, with what the last four arguments say.

    ``args`` go to the agent as they are; with ``agent="program"`` they are the command of any other program.
    PromptError where the agent runs but its prompt was not delivered; RefusedError where nothing was started.

    >>> import midwatch
    >>> midwatch.spawn("shell", agent="program", args=["sh", "-c", "exec sleep 600"], socket=socket).kind
    'session'
    >>> midwatch.stop("shell").state
    'stopped'
    """
    from midwatch.cli.commands import spawn as command

    options = KeywordOptions(
        "spawn", agent=agent, dir=dir, cwd=cwd, model=model, verify=verify, socket=socket, prompt_file=prompt_file,
        no_status_protocol=not status_protocol, headless=headless, watch=watch, resume=resume, on_limit=on_limit,
        continues=continues, deadline=deadline,
    )  # fmt: skip
    options.names, options.command = [name], [plain_word(word) for word in args]
    _check_program(agent, args, model)
    wish, watching = command.parse_request(options), command.watch_arguments(options)
    text = _first_prompt(prompt, prompt_file, verbatim=verbatim, headless=headless)
    looker = open_directory("spawn", dir)
    send_pending.start_sender_at_intervals(looker.directory)
    return _spawn_headless(looker, wish, text) if headless else _spawn_session(looker, wish, text, watching)


def _check_program(agent: str, args: Sequence[str], model: str | None) -> None:
    from midwatch.agents import catalog

    if any(each.any and each.agent == agent for each in catalog.load_all()) and (not args or model):
        raise UsageError(f"agent={agent!r} needs a command in args, such as args=['./work'], and takes no model")


def _first_prompt(prompt: str | None, path: Path | None, *, verbatim: bool, headless: bool) -> str:
    from midwatch.cli.commands.send import read_prompt
    from midwatch.sessions.prompting.codec import text as sessions_text

    if prompt is not None and path is not None:
        raise UsageError("prompt and prompt_file both give a prompt; give one")
    if path is not None:
        prompt = read_prompt("prompt_file", plain_word(path))
    text = visible_text(prompt or "", verbatim=verbatim)
    if headless and not text.strip():
        raise UsageError("headless needs prompt or prompt_file: there is nobody to ask for it")
    return text if headless or not text else sessions_text.clean_prompt(text)


def _spawn_headless(looker: JobDirectory, wish: SpawnRequest, prompt: str) -> Verdict:
    from midwatch.sessions import spawn as sessions_spawn

    if not sessions_spawn.resumable_rules(wish.agent).headless:
        raise RefusedError(f"nobody has written down how {wish.agent.title} runs without a terminal")
    job = sessions_spawn.build_headless_job(looker, wish, looker.policy)
    jobs.start_detached(looker, job, prompt.encode("utf-8", "surrogateescape"))
    return looker.verdict(job.name)


def _spawn_session(looker: JobDirectory, wish: SpawnRequest, prompt: str, watching: list[str] | None) -> Verdict:
    from midwatch.core.policy import PATIENT
    from midwatch.jobs import launch_from_api
    from midwatch.sessions import monitor_job
    from midwatch.sessions import spawn as sessions_spawn
    from midwatch.sessions.agent_session import AgentSession
    from midwatch.tmux.sessions import TmuxSessions

    if watching is not None:
        monitor_job.await_last_monitor(looker, wish.name)
        monitor_job.refuse_second_monitor(looker, monitor_job.job_name(wish.name), wish.name)
    job = sessions_spawn.start_conversation(looker, wish)
    session, sent = AgentSession(looker, job.name, PATIENT), None
    try:
        if watching is not None and session.observe().verdict.cause != "not-started":
            monitor_job.start_monitor(
                looker, job.name, watching, watched=job.name, launch_shim=launch_from_api.launch_shim
            )  # fmt: skip
        if prompt:
            sent = session.deliver(prompt, until=time.monotonic() + READY)
        verdict = session.observe().verdict
    finally:
        session.close()
    if verdict.cause == "not-started":
        assert job.pane is not None
        TmuxSessions(job.pane.server).close(job.pane)
    elif sent is not None and not sent.delivered:
        raise PromptError(verdict, sent)
    return verdict


def monitor(  # noqa: PLR0913  # one for each flag of `midwatch monitor`
    target: Job,
    *,
    deadline: Duration | None = None,
    stale: Duration | None = None,
    grace: Duration | None = None,
    resume: int = 0,
    verify: str | None = None,
    clock: Literal["life", "final"] | None = None,
    on_limit: Literal["report", "wait"] | None = None,
    continues: int | None = None,
    until: Literal["outcome", "final"] | None = None,
    cleanup: bool = False,
    on_change: Callable[[Verdict], None] | None = None,
    dir: Path | None = None,  # noqa: A002  # called as the flag is
    socket: Path | None = None,
) -> Verdict:
    """Watch a session until something is to be said of it; bring it back after a crash or a hang if told to.

    With ``until="final"`` it watches on to the end of the work. `spawn(watch=True)` leaves such a monitor behind.

    ``on_change`` is called with every change that does not end the watch.

    >>> import midwatch
    >>> midwatch.monitor("nobody").state
    'not_found'
    """
    found = prepare_monitor(
        target, deadline=deadline, stale=stale, grace=grace, resume=resume, verify=verify, clock=clock,
        on_limit=on_limit, continues=continues, until=until, cleanup=cleanup, on_change=on_change, dir=dir,
        socket=socket,
    )  # fmt: skip
    return found if isinstance(found, Verdict) else found.run(lambda _: None)


def prepare_monitor(
    target: Job, *, on_change: Callable[[Verdict], None] | None, dir: Path | None, socket: Path | None,  # noqa: A002
    **given: object,
) -> SessionMonitor | Verdict:  # fmt: skip
    """What watches it, or the verdict where there is nothing to watch."""
    from midwatch.cli.commands import monitor as command
    from midwatch.sessions.monitor import SessionMonitor

    options, name = KeywordOptions("monitor", dir=dir, **given), job_name(target)
    if socket is not None:
        path = plain_word(socket)
        options.values["-S" if "/" in path else "-L"] = [path]
    subject = command.find_subject(options, name)
    if isinstance(subject, Verdict):
        return subject
    send_pending.start_sender_at_intervals(subject.directory)
    wanted = command.parse_options(options)._replace(guest=True)
    return SessionMonitor(subject, wanted, on_change or (lambda _: None))
