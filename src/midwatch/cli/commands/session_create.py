"""`midwatch session create`, `resume` and `restore`: sessions that begin, or begin again, and their rows."""

from __future__ import annotations

import os
import shlex
import sys
import time

from midwatch.cli import output
from midwatch.cli.commands import session as face
from midwatch.cli.commands import spawn
from midwatch.cli.commands.run import REFUSED
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core.errors import MidwatchError, RefusedError, UsageError
from midwatch.core.policy import PATIENT
from midwatch.core.redaction import redact, redact_words
from midwatch.core.text import first_few, visible
from midwatch.core.verdict import Verdict
from midwatch.jobs.launch import JobSpec
from midwatch.registry import session_resume, sessions
from midwatch.registry import store as registry_store
from midwatch.registry.model import RUNNING, RegistryRow, iso
from midwatch.registry.sessions import RegisteredSessions, RowStatus
from midwatch.sessions import spawn as sessions_spawn
from midwatch.sessions.agent_session import AgentSession
from midwatch.tmux.sessions import TmuxSessions, tmux_session_name

NEW = "midwatch-sessions.yaml"
HERMES = ".hermes"
FAILED = 1


def create(options: Options) -> int:
    wish, prompt = spawn.parse_request(options), spawn.prompt_text(options)
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
        job = sessions_spawn.start_conversation(listed.looker, wish)
    except RefusedError as error:
        output.print_remark(str(error))
        return REFUSED
    session = AgentSession(listed.looker, job.name, PATIENT)
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
            row, said, code = _resume_one(listed, standing, prompt)
    finally:
        listed.close()
    face.print_row(row, said, json=options.flag("--json"))
    return code


def restore(options: Options) -> int:
    """0 when all are back, 1 when some are not."""
    if options.names:
        raise UsageError("session restore takes no names; `midwatch session resume NAME` brings one back")
    listed = face.open_registry(options)
    try:
        found = listed.file.read().rows
        problems = [f"{row.problem}; that row is passed over" for row in found if row.problem]
        for problem in first_few(problems, "rows that are passed over"):
            output.print_remark(problem)
        rows = _newest_row([row for row in found if row.is_on(listed.host) and not row.problem])
        wanted = [
            standing for standing in listed.observe_rows(tuple(rows)) if sessions.has_ended_unexpectedly(standing)
        ]
        done = [_restore_one(options, listed, standing) for standing in wanted]
    finally:
        listed.close()
    if not wanted:
        output.print_remark("nothing is to be restored: no session ended that nobody meant to end")
    return 0 if all(done) else FAILED


def _restore_one(options: Options, listed: RegisteredSessions, standing: RowStatus) -> bool:
    """Whether it is back, or could be; whatever becomes of it, the others have their turn."""
    row, json, dry = standing.row, options.flag("--json"), options.flag("--dry-run")
    if row.resumable is False or not row.conversation:
        return _report_skipped(listed, standing, json=json, dry=dry)
    try:
        session_resume.check_resumable(listed, standing)
        command = shlex.join(redact_words(session_resume.resume_command(listed, standing)))
        if dry:
            said, outcome = f"would be resumed: {command} (in {session_resume.find_directory(standing)})", "planned"
        else:
            (row, said, _), outcome = _resume_one(listed, standing, ""), "resumed"
    except (MidwatchError, OSError) as error:
        if json:
            face.print_row(row, "", json=True, outcome="failed", reason=str(error))
        output.print_remark(f"{visible(row.name)} is not resumed: {error}")
        return False
    face.print_row(row, said, json=json, outcome=outcome, command=command)
    return True


def _report_skipped(listed: RegisteredSessions, standing: RowStatus, *, json: bool, dry: bool) -> bool:
    """One that ended and has no way back, which is nobody's failure: say why."""
    row = standing.row
    try:
        session_resume.check_resumable(listed, standing)
    except MidwatchError as error:
        if json:
            face.print_row(row, "", json=True, outcome="impossible", reason=str(error))
        else:
            print(f"{visible(row.name)}: cannot be restored: {error}", file=sys.stdout if dry else sys.stderr)
    return True


# One session --------------------------------------------------------------------------------------------------------


def _resume_one(listed: RegisteredSessions, standing: RowStatus, prompt: str) -> tuple[RegistryRow, str, int]:
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


def _newest_row(rows: list[RegistryRow]) -> list[RegistryRow]:
    """Of rows with one name, the one that is meant."""
    found: dict[str, RegistryRow] = {}
    for row in rows:
        if row.name not in found or found[row.name].status != RUNNING or row.status == RUNNING:
            found[row.name] = row
    return list(found.values())
