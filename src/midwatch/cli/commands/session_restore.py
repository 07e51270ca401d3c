"""`midwatch session restore`: what ended though nobody wanted it to, again: rows of the list, and watched sessions."""

from __future__ import annotations

import os
import shlex
import sys

from midwatch.cli import context, output
from midwatch.cli.commands import session as face
from midwatch.cli.commands.session_create import resume_one
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core.errors import MidwatchError, UsageError
from midwatch.core.json_text import dump
from midwatch.core.redaction import redact_words
from midwatch.core.text import first_few, visible
from midwatch.jobs.job_directory import JobDirectory
from midwatch.registry import session_resume, sessions
from midwatch.registry import store as registry_store
from midwatch.registry.model import RUNNING, RegistryRow
from midwatch.registry.sessions import RegisteredSessions, RowStatus
from midwatch.sessions import watch_restore
from midwatch.sessions.watch_restore import LostWatch

FAILED = 1


def restore(options: Options) -> int:
    """0 when all are back, 1 when some are not."""
    if options.names:
        raise UsageError("session restore takes no names; `midwatch session resume NAME` brings one back")
    registered = options.text("--registry") or os.environ.get("WORKSPACE_ROOT")
    path = "" if registered else registry_store.nearest_registry(os.path.realpath(os.getcwd()))
    looker = JobDirectory(paths.sentinel_directory(options.text("--dir")), context.lazy_policy(options))
    lost = watch_restore.find_lost_watches(looker)
    listed = face.open_registry(options) if registered or path else None
    if listed is not None and listed.looker.directory != looker.directory:
        looker = listed.looker
        lost = watch_restore.find_lost_watches(looker)
    try:
        rows = _list_rows(listed) if listed is not None else []
        kept = {row.name for row in rows if row.resumable is False}
        wanted = [each for each in _observe(listed, rows) if sessions.has_ended_unexpectedly(each)]
        lost = [each for each in lost if each.name not in kept]
        watched = {each.name for each in lost} if options.flag("--dry-run") else set()
        done = [_restore_one(options, listed, each) for each in wanted if listed and each.row.name not in watched]
    finally:
        if listed is not None:
            listed.close()
    done += [_restore_watch(options, looker, each) for each in lost]
    if not done:
        output.print_remark("nothing is to be restored: no session ended that nobody meant to end")
    return 0 if all(done) else FAILED


def _list_rows(listed: RegisteredSessions) -> list[RegistryRow]:
    found = listed.file.read().rows
    problems = [f"{row.problem}; that row is passed over" for row in found if row.problem]
    for problem in first_few(problems, "rows that are passed over"):
        output.print_remark(problem)
    return _newest_row([row for row in found if row.is_on(listed.host) and not row.problem])


def _observe(listed: RegisteredSessions | None, rows: list[RegistryRow]) -> list[RowStatus]:
    return [] if listed is None else listed.observe_rows(tuple(rows))


# Watched sessions ---------------------------------------------------------------------------------------------------


def _restore_watch(options: Options, looker: JobDirectory, lost: LostWatch) -> bool:
    """Whether it is back and watched, or could be."""
    json, dry = options.flag("--json"), options.flag("--dry-run")
    try:
        command = "" if lost.lives else shlex.join(redact_words(watch_restore.resume_command(lost, looker.directory)))
        if not dry:
            watch_restore.restore_watch(looker, lost)
    except (MidwatchError, OSError) as error:
        if json:
            print(_watch_fields(lost, "failed", reason=str(error)), flush=True)
        output.print_remark(f"{visible(lost.name)} is not resumed: {error}")
        return False
    if json:
        outcome = "planned" if dry else "watched" if lost.lives else "resumed"
        print(_watch_fields(lost, outcome, command=command or None), flush=True)
        return True
    how = f"would be resumed: {command} (in {lost.record.cwd})" if dry else "resumed"
    if lost.lives:
        how = "it goes on" if not dry else "it goes on; it would be watched again"
    print(f"{visible(lost.name)}: {how}{'' if dry else f', watched by {lost.plan.job}'}", flush=True)
    return True


def _watch_fields(lost: LostWatch, outcome: str, **more: object) -> str:
    return dump({
        "schema": face.SCHEMA, "name": lost.name, "agent": lost.record.agent, "cwd": lost.record.cwd,
        "monitor": lost.plan.job, "outcome": outcome, **more,
    })  # fmt: skip


# Rows ---------------------------------------------------------------------------------------------------------------


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
            (row, said, _), outcome = resume_one(listed, standing, ""), "resumed"
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


def _newest_row(rows: list[RegistryRow]) -> list[RegistryRow]:
    """Of rows with one name, the one that is meant."""
    found: dict[str, RegistryRow] = {}
    for row in rows:
        if row.name not in found or found[row.name].status != RUNNING or row.status == RUNNING:
            found[row.name] = row
    return list(found.values())
