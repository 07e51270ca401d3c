"""`midwatch resume`: an agent again, with the conversation that it had."""

from __future__ import annotations

import os
import signal

from midwatch.cli import context, output
from midwatch.cli.commands.run import REFUSED
from midwatch.cli.commands.spawn import deliver_prompt, prompt_text
from midwatch.cli.parser import Options
from midwatch.core import names
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.job_model import Record
from midwatch.core.policy import PATIENT
from midwatch.sessions import resume
from midwatch.sessions.agent_session import AgentSession, SessionObservation
from midwatch.system.terminate_tree import signal_exactly


def main(options: Options) -> int:
    if len(options.names) != 1:
        raise UsageError("resume needs the name of one session; `midwatch ls` lists them")
    prompt = prompt_text(options)
    looker, name = context.job_observer(options), names.check_name(options.names[0])
    session = AgentSession(looker, name, PATIENT)
    try:
        looked = session.observe()
        if looked.facts.record is None:
            output.print_verdict(looked.verdict, json=options.flag("--json"))
            return EXIT_CODES["not_found"]
        code = _resume_session(session, looked, looked.facts.record, prompt)
        verdict = session.observe().verdict
    except RefusedError as error:
        output.print_remark(str(error))
        return EXIT_CODES["unknown"]
    finally:
        session.close()
    if verdict.cause == "not-started":
        output.print_remark(verdict.reason)
        return verdict.exit_code or REFUSED
    output.print_verdict(verdict, json=options.flag("--json"))
    return code


def _resume_session(session: AgentSession, looked: SessionObservation, record: Record, prompt: str) -> int:
    name, verdict = record.name, looked.verdict
    if record.pane is None:
        raise RefusedError(f"{name} is no session in a pane; `midwatch retry {name}` runs a job again")
    if verdict.process == "suspended":
        _continue_process(record)
    elif not verdict.final:
        raise RefusedError(f"{name} is {verdict.state} ({verdict.reason}); `midwatch stop {name}` ends it first")
    else:
        resume.resume_session(session.looker, record, session.detector(record), since=None)
    return deliver_prompt(session, prompt) if prompt else 0


def _continue_process(record: Record) -> None:
    """SIGCONT for the agent's whole group: a second copy would work against the first."""
    if not signal_exactly(record.work.pid, record.work.start, signal.SIGCONT):
        raise RefusedError(f"{record.name} is suspended, but its process may not be signalled by this user")
    try:
        os.killpg(os.getpgid(record.work.pid), signal.SIGCONT)
    except OSError:
        pass  # the agent itself was woken; what is left of its group is its own
