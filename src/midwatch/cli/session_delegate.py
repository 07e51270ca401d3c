"""`midwatch session delegate`: a task for a session that runs, and one answer: what became of it."""

from __future__ import annotations

import time

from midwatch.cli import say, settings
from midwatch.cli import session as face
from midwatch.cli.options import Options
from midwatch.cli.run import INTERRUPTED
from midwatch.cli.send import Signals
from midwatch.cli.spawn import prompt_of
from midwatch.formats import verifiers
from midwatch.judge.consequences import exit_code
from midwatch.judge.monitoring import DEADLINE
from midwatch.loops import delegating
from midwatch.loops.delegating import Errand
from midwatch.model.errors import RefusedError, UsageError
from midwatch.model.registry import RUNNING
from midwatch.model.verdict import Verdict


def delegate(options: Options) -> int:
    name, errand = face.one_name(options), _errand(options)
    listed, policy = face.listed(options), settings.policy(options)
    began = time.monotonic()
    try:
        row = listed.row(name)
        if row.status != RUNNING:
            raise RefusedError(f"{row.name} is {row.status}; `midwatch session resume {row.name}` brings it back")
        standing = listed.look(row)
        subject = delegating.subject_of(listed, standing, policy)
        asked = Signals()
        with asked:
            verdict = delegating.delegate(subject, errand, _progress, asked.heard)
        code = INTERRUPTED if asked.heard() else exit_code(verdict.state)
        delegating.note(listed, standing, verdict, code, time.monotonic() - began)
        listed.seen(row)
    finally:
        listed.close()
    say.show(verdict, json=options.flag("--json"))
    return code


def _errand(options: Options) -> Errand:
    prompt = prompt_of(options)
    if not prompt.strip():
        raise UsageError("session delegate needs --prompt or --prompt-file: what is it to do?")
    given, timeout = options.text("--verify") or "", options.seconds("--timeout")
    if given:
        verifiers.parse(given)
    if timeout is not None and timeout <= 0:
        raise UsageError("--timeout must be above 0")
    return Errand(prompt, given, DEADLINE if timeout is None else timeout)


def _progress(verdict: Verdict) -> None:
    say.remark_on(verdict)
