"""The session whose dialog is meant, with where its answers are written down, and whether the caller may answer it."""

from __future__ import annotations

import os

from midwatch.core import names
from midwatch.core.policy import PATIENT
from midwatch.core.value import Value
from midwatch.jobs.job_directory import JobDirectory
from midwatch.sessions.dialogs.answer_record import AnswerRecord
from midwatch.sessions.dialogs.caller import Caller
from midwatch.sessions.find_agent import FoundAgent
from midwatch.tmux import client as tmux_client


class AnswerTarget(Value):
    there: FoundAgent
    directory: str
    name: str
    """Of the session; of a pane of others the name of its tmux session, or its number."""
    run: str
    """Empty for a pane of others."""

    def record(self, caller: Caller, text: str | None) -> AnswerRecord:
        return AnswerRecord(self.directory, self.name, self.run, caller, text)

    def find_refusal(self, caller: Caller) -> str:
        """Why this caller may not answer: no agent answers its own dialogs. Empty when it may."""
        pane = self.there.pane
        process = self.there.panes.known[pane.id].process[0]
        socket, there = os.environ.get("TMUX", "").partition(",")[0], tmux_client.socket_path(self.there.server)
        same_server = socket and os.path.realpath(socket) == os.path.realpath(there)
        inside = (
            bool({process, pane.pid} & caller.ancestry)
            or bool(self.run and caller.run == self.run)
            or bool(same_server and caller.pane == pane.id)
        )
        return "the call comes from this very session; an agent does not answer its own dialogs" if inside else ""


def find_target(there: FoundAgent, target: str, directory: str) -> AnswerTarget:
    """``target`` is the name of a session in that directory, %PANE or =SESSION."""
    if not names.is_pane(target) and not target.startswith("="):
        record = JobDirectory(directory, lambda: PATIENT).facts(target).record
        return AnswerTarget(there, directory, target, record.run if record else "")
    session = there.pane.session
    name = session if not names.find_problem(session) else f"pane-{there.pane.id[1:]}"
    return AnswerTarget(there, directory, name, "")
