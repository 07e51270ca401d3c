"""`midwatch session delegate`: a task for a session that runs, and one answer: what became of it."""

from __future__ import annotations

import time

from midwatch.cli import context, output
from midwatch.cli.commands import session as face
from midwatch.cli.commands.run import INTERRUPTED
from midwatch.cli.commands.spawn import prompt_text
from midwatch.cli.parser import Options
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import exit_code
from midwatch.core.verdict import Verdict
from midwatch.registry import session_delegate
from midwatch.registry.model import RUNNING
from midwatch.registry.session_delegate import DelegatedTask
from midwatch.sessions.model import DEADLINE
from midwatch.system.end_signals import CommandSignals
from midwatch.verification import codec as verification_codec


def delegate(options: Options) -> int:
    name, errand = face.parse_name(options), _parse_task(options)
    listed, policy = face.open_registry(options), context.read_policy(options)
    began = time.monotonic()
    try:
        row = listed.row(name)
        if row.status != RUNNING:
            raise RefusedError(f"{row.name} is {row.status}; `midwatch session resume {row.name}` brings it back")
        standing = listed.observe(row)
        subject = session_delegate.find_subject(listed, standing, policy)
        asked = CommandSignals()
        with asked:
            verdict = session_delegate.delegate_task(subject, errand, _print_progress, asked.was_asked)
        code = INTERRUPTED if asked.was_asked() else exit_code(verdict.state)
        session_delegate.record_end(listed, standing, verdict, code, time.monotonic() - began)
        listed.record_turn(row)
    finally:
        listed.close()
    output.print_verdict(verdict, json=options.flag("--json"))
    return code


def _parse_task(options: Options) -> DelegatedTask:
    prompt = prompt_text(options)
    if not prompt.strip():
        raise UsageError("session delegate needs --prompt or --prompt-file: what is it to do?")
    given, timeout = options.text("--verify") or "", options.seconds("--timeout")
    if given:
        verification_codec.parse_check(given)
    if timeout is not None and timeout <= 0:
        raise UsageError("--timeout must be above 0")
    return DelegatedTask(prompt, given, DEADLINE if timeout is None else timeout)


def _print_progress(verdict: Verdict) -> None:
    output.print_verdict_remark(verdict)
