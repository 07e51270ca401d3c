"""`midwatch resume`: an agent again, with the conversation that it had."""

from __future__ import annotations

import os
import signal

from midwatch.cli import say, settings
from midwatch.cli.options import Options
from midwatch.cli.run import REFUSED
from midwatch.cli.spawn import given, prompt_of
from midwatch.formats import names
from midwatch.hands.stop import signal_exactly
from midwatch.judge.consequences import EXIT_CODES
from midwatch.loops import resuming
from midwatch.loops.sessions import Looked, Session
from midwatch.model.errors import RefusedError, UsageError
from midwatch.model.facts import Record
from midwatch.model.policy import PATIENT


def main(options: Options) -> int:
    if len(options.names) != 1:
        raise UsageError("resume needs the name of one session; `midwatch ls` lists them")
    prompt = prompt_of(options)
    looker, name = settings.looker(options), names.check(options.names[0])
    session = Session(looker, name, PATIENT)
    try:
        looked = session.look()
        if looked.facts.record is None:
            say.show(looked.verdict, json=options.flag("--json"))
            return EXIT_CODES["not_found"]
        code = _resume(session, looked, looked.facts.record, prompt)
        verdict = session.look().verdict
    except RefusedError as error:
        say.remark(str(error))
        return EXIT_CODES["unknown"]
    finally:
        session.close()
    if verdict.cause == "not-started":
        say.remark(verdict.reason)
        return verdict.exit_code or REFUSED
    say.show(verdict, json=options.flag("--json"))
    return code


def _resume(session: Session, looked: Looked, record: Record, prompt: str) -> int:
    name, verdict = record.name, looked.verdict
    if record.pane is None:
        raise RefusedError(f"{name} is no session in a pane; `midwatch retry {name}` runs a job again")
    if verdict.process == "suspended":
        _wake(record)
    elif not verdict.final:
        raise RefusedError(f"{name} is {verdict.state} ({verdict.reason}); `midwatch stop {name}` ends it first")
    else:
        resuming.bring_back(session.looker, record, session.detector(record), since=None)
    return given(session, prompt) if prompt else 0


def _wake(record: Record) -> None:
    """SIGCONT for the agent's whole group: a second copy would work against the first."""
    if not signal_exactly(record.work.pid, record.work.start, signal.SIGCONT):
        raise RefusedError(f"{record.name} is suspended, but its process may not be signalled by this user")
    try:
        os.killpg(os.getpgid(record.work.pid), signal.SIGCONT)
    except OSError:
        pass  # the agent itself was woken; what is left of its group is its own
