"""`midwatch session create` and `resume`: sessions that begin, or begin again, and their rows."""

from __future__ import annotations

import os
import time

from midwatch.cli import output
from midwatch.cli.commands import session as face
from midwatch.cli.commands import spawn
from midwatch.cli.commands.run import REFUSED
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core.errors import MidwatchError, RefusedError, UsageError
from midwatch.core.policy import PATIENT
from midwatch.core.redaction import redact
from midwatch.core.verdict import Verdict
from midwatch.jobs.launch import JobSpec
from midwatch.registry import session_resume, sessions
from midwatch.registry import store as registry_store
from midwatch.registry.model import RUNNING, RegistryRow, iso
from midwatch.registry.sessions import RegisteredSessions, RowStatus
from midwatch.sessions.agent_session import AgentSession
from midwatch.tmux.sessions import TmuxSessions, tmux_session_name

NEW = "midwatch-sessions.yaml"
HERMES = ".hermes"


def create(options: Options) -> int:
    if options.flag("--headless"):
        raise UsageError("--register is for a session; an agent without a terminal is a job, which needs no row")
    wish, prompt, watch = spawn.parse_request(options), spawn.prompt_text(options), spawn.watch_arguments(options)
    if tmux_session_name(wish.name) != wish.name:
        raise UsageError(f"tmux would call it {tmux_session_name(wish.name)!r}: use letters, digits and _ + @ - alone")
    listed = face.open_registry(options, _registry_path(options))
    rows = sessions.rows_with_name(listed.file.read(), wish.name) if os.path.exists(listed.path) else []
    sessions.check_valid(rows)
    if any(row.status == RUNNING for row in rows):
        raise RefusedError(
            f"{wish.name} stands in {listed.path} as running; `midwatch session resume {wish.name}` brings it back if "
            f"it has ended, `midwatch session stop {wish.name}` ends it"
        )
    try:
        job, session = spawn.start_session(listed.looker, wish, watch)
    except RefusedError as error:
        output.print_remark(str(error))
        return REFUSED
    try:
        verdict = session.observe().verdict
        if code := _close_failed(job, verdict):
            return code
        row = _add_row(listed, session, options.text("--socket"))
        _print_changes(rows, row)
        code = spawn.deliver_prompt(session, prompt) if prompt else 0
        session.observe()
        row = _record_conversation(listed, row, session)
        row = listed.record_turn(row)
    finally:
        session.close()
        listed.close()
    print(face.as_json(row, registry=listed.path) if options.flag("--json") else row.name, flush=True)
    return code


def resume(options: Options) -> int:
    name, prompt, listed = face.parse_name(options), spawn.prompt_text(options), face.open_registry(options)
    try:
        standing = listed.observe(listed.row(name))
        if session_resume.is_running(standing):
            row, said, code = (
                _record_running(listed, standing),
                "it goes on, and stands in the list as running again",
                0,
            )
            if prompt:
                raise RefusedError(f"{row.name} {said}; `midwatch session delegate {row.name}` gives it a task")
        else:
            row, said, code = resume_one(listed, standing, prompt)
    finally:
        listed.close()
    face.print_row(row, said, json=options.flag("--json"))
    return code


# One session --------------------------------------------------------------------------------------------------------


def resume_one(listed: RegisteredSessions, standing: RowStatus, prompt: str) -> tuple[RegistryRow, str, int]:
    row = standing.row
    job = session_resume.resume_session(listed, standing)
    session = AgentSession(listed.looker, job.name, PATIENT)
    try:
        verdict = session_resume.wait_until_settled(session)
        if verdict.final:
            _close_failed(job, verdict, always=True)
            raise RefusedError(f"{row.name} was started, and ended at once: {verdict.reason}")
        record = session.observe().facts.record
        if record is None:
            raise RefusedError(f"{row.name} was started, but its record is gone; `midwatch ls` tells what there is")
        row = listed.mark_restarted(row, record)
        code = spawn.deliver_prompt(session, prompt) if prompt else 0
        row = listed.record_turn(row)
    finally:
        session.close()
    return row, f"resumed with conversation {row.conversation}", code


def _record_running(listed: RegisteredSessions, standing: RowStatus) -> RegistryRow:
    """It never ended: its row says again that it runs, and where."""
    pane = standing.agent
    assert pane is not None
    return listed.mark_running(standing.row, pane)


def _add_row(listed: RegisteredSessions, session: AgentSession, socket: str | None) -> RegistryRow:
    record = session.facts().record
    assert record is not None
    try:
        values = sessions.new_row(record, session.conversation, iso(time.time()), socket)
        return listed.record_start(record.name, values)
    except (MidwatchError, OSError) as error:
        raise RefusedError(
            f"{record.name} runs, but could not be put into the list: {error}; `midwatch stop {record.name}` ends it"
        ) from error


def _record_conversation(listed: RegisteredSessions, row: RegistryRow, session: AgentSession) -> RegistryRow:
    """The id, where it is known only now."""
    talk = session.conversation
    return listed.write(row, {f"{row.agent}_session_id_own": talk}) if talk and talk != row.conversation else row


def _close_failed(job: JobSpec, verdict: Verdict, *, always: bool = False) -> int:
    """Close the pane of an agent that could not be started, and give the exit code for that; 0 where it was."""
    if not always and verdict.cause != "not-started":
        return 0
    assert job.pane is not None
    TmuxSessions(job.pane.server).close(job.pane)
    if not always:
        output.print_remark(f"{redact(job.command[0])}: {redact(verdict.reason)}")
    return verdict.exit_code or REFUSED


def _print_changes(before: list[RegistryRow], now: RegistryRow) -> None:
    """A row that began anew no longer names the conversation that it had."""
    if before and before[-1].conversation and before[-1].conversation != now.conversation:
        output.print_remark(f"{now.name} had conversation {before[-1].conversation}, which is no longer in the list")


# The list -----------------------------------------------------------------------------------------------------------


def _registry_path(options: Options) -> str:
    """Where the list is, or is to be."""
    given = options.text("--registry")
    if given is not None:
        return os.path.abspath(given)
    try:
        return registry_store.find_registry(None, os.getcwd())
    except RefusedError:
        root = paths.project_root(os.environ.get("WORKSPACE_ROOT") or os.getcwd())
        return f"{root}/{HERMES}/agent-sessions.yaml" if os.path.isdir(f"{root}/{HERMES}") else f"{root}/{NEW}"
