"""`dogwatch resume`: an agent again, with the conversation that it had."""

from __future__ import annotations

import os
import signal

from dogwatch.cli import say, settings
from dogwatch.cli.options import Options
from dogwatch.cli.run import REFUSED
from dogwatch.cli.spawn import given, prompt_of
from dogwatch.formats import names
from dogwatch.hands.stop import signal_exactly
from dogwatch.judge.consequences import EXIT_CODES
from dogwatch.loops import resuming
from dogwatch.loops.sessions import Looked, Session
from dogwatch.model.errors import RefusedError, UsageError
from dogwatch.model.facts import Record
from dogwatch.model.policy import PATIENT


def main(options: Options) -> int:
    if len(options.names) != 1:
        raise UsageError("resume needs the name of one session; `dogwatch ls` lists them")
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
        raise RefusedError(f"{name} is no session in a pane; `dogwatch retry {name}` runs a job again")
    if verdict.process == "suspended":
        _wake(record)
    elif not verdict.final:
        raise RefusedError(f"{name} is {verdict.state} ({verdict.reason}); `dogwatch stop {name}` ends it first")
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
