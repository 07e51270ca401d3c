"""A session of the list again, with exactly the conversation that its row names: through the lease, or not at all."""

from __future__ import annotations

import os
import time

from midwatch.agents import launch
from midwatch.agents.conversation_exists import ConversationIndex
from midwatch.config import paths
from midwatch.core import names
from midwatch.core.errors import RefusedError
from midwatch.core.presence import GONE, LIVES
from midwatch.core.text import visible
from midwatch.core.verdict import Verdict
from midwatch.jobs import launch as jobs_launch
from midwatch.notifications import report_change
from midwatch.registry.model import ENDED, RUNNING
from midwatch.registry.rules.row import is_same_pane, is_shell
from midwatch.registry.sessions import RegisteredSessions, RowStatus
from midwatch.sessions import resume
from midwatch.sessions import spawn as sessions_spawn
from midwatch.sessions.agent_session import AgentSession
from midwatch.system import procfs
from midwatch.tmux.sessions import TmuxSessions, tmux_session_name

SETTLES, LASTS, PAUSE = 15.0, 1.0, 0.1
"""Seconds that an agent has to show something, for which it must last, and between looks.

One whose conversation cannot be had says so, and ends.
"""


def check_resumable(listed: RegisteredSessions, standing: RowStatus) -> None:
    """RefusedError where there is a reason why it must not, or cannot, be started again."""
    row = standing.row
    if standing.case.trouble and row.status == RUNNING and not standing.is_gone:
        raise RefusedError(f"whether {row.name} runs cannot be told: {standing.case.trouble}")
    if not standing.over or standing.agent is not None:
        where = f" (pane {standing.agent.id}, pid {standing.agent.pid})" if standing.agent else ""
        raise RefusedError(f"{row.name} is still running{where}; `midwatch session stop {row.name}` ends it first")
    if standing.pane is None and (standing.process == LIVES or (row.status == RUNNING and standing.case.lives)):
        raise RefusedError(
            f"{row.name} may still be running: its process {row.pane.pid} is there, though tmux does not show it. "
            "Put its socket into its row (tmux_socket), or end that process first"
        )
    if row.resumable is False:
        raise RefusedError(f"{row.name} is not to be resumed: its row says `resumable: false`")
    if not row.conversation:
        raise RefusedError(
            f"nobody has noted the id of {row.name}'s conversation; "
            f"`midwatch session create {row.name} --agent {row.agent or 'A'}` begins another"
        )
    if row.conversation.startswith("-"):
        raise RefusedError(
            f"the row of {row.name} has {visible(row.conversation)} for the id of its conversation, which an agent "
            "would take for an option; mend the row"
        )
    sessions_spawn.find_launch_rules(row.name, listed.detector(row), find_directory(standing))
    artifacts = ConversationIndex()
    artifacts.begin()
    if artifacts.there(row.agent, row.conversation, listed.variables(standing)) == GONE:
        raise RefusedError(
            f"what {row.agent} had written of conversation {row.conversation} is gone; nothing to resume"
        )


def is_running(standing: RowStatus) -> bool:
    """Whether it runs although its row says that it has ended: then it is only to be noted again."""
    agent = standing.agent
    return standing.row.status in ENDED and agent is not None and agent.agent == standing.row.agent


def find_directory(standing: RowStatus) -> str:
    found = standing.record.cwd if standing.record else standing.row.pane.cwd
    if not found:
        raise RefusedError(f"the row of {standing.row.name} does not tell its directory (pane.cwd); put it there")
    return found


def resume_command(listed: RegisteredSessions, standing: RowStatus) -> list[str]:
    """What would be run."""
    how = sessions_spawn.find_launch_rules(standing.row.name, listed.detector(standing.row), find_directory(standing))
    options = standing.record.options if _has_record(standing) and standing.record else ()
    return launch.resume_command(how, standing.row.conversation, options)


def resume_session(listed: RegisteredSessions, standing: RowStatus) -> jobs_launch.JobSpec:
    """Start its agent again. RefusedError says why not; then nothing runs."""
    row, agent = standing.row, listed.detector(standing.row)
    check_resumable(listed, standing)
    if _has_record(standing) and standing.record is not None:
        return resume.resume_session(listed.looker, standing.record, agent, since=None)
    names.check_name(row.name)
    if tmux_session_name(row.name) != row.name:
        raise RefusedError(
            f"tmux would call {row.name!r} {tmux_session_name(row.name)!r}; give it another name in the list"
        )
    _close_left_pane(standing)
    wish = sessions_spawn.SpawnRequest(
        row.name, agent, find_directory(standing), listed.server(row), conversation=row.conversation,
        notify=report_change.find_configured_project(paths.project_root(os.getcwd())),
    )  # fmt: skip
    return resume.adopt_conversation(listed.looker, wish)


def wait_until_settled(session: AgentSession) -> Verdict:
    """What becomes of an agent that was just started: at its prompt, at work, at a dialog, or ended."""
    began = time.monotonic()
    since = 0.0
    while not (verdict := session.observe().verdict).final and (now := time.monotonic()) < began + SETTLES:
        since = (since or now) if verdict.settled and verdict.state != "starting" else 0.0
        if since and now >= since + LASTS:
            break
        time.sleep(PAUSE)
    return verdict


def _has_record(standing: RowStatus) -> bool:
    """Whether our record is of the conversation that the row names: then all that it was started with is known, too."""
    record = standing.record
    return record is not None and record.adopted is None and standing.conversation == standing.row.conversation


def _close_left_pane(standing: RowStatus) -> None:
    """A pane that is left of it, with nothing in it but a shell at rest, makes room for the new one."""
    row, pane = standing.row, standing.case.pane
    if pane is None:
        return
    if not is_same_pane(row, pane):
        raise RefusedError(f"there is a session {row.name} that is not the one of the list; close it, or rename it")
    busy = [] if pane.dead else [procfs.command_name(pid) for pid in procfs.children(pane.pid)]
    if not pane.dead and (busy or not is_shell(pane.command)):
        what = ", ".join(busy) or pane.command
        raise RefusedError(
            f"{what} runs in the pane of {row.name}; `midwatch session stop {row.name}` ends and closes it"
        )
    tmux = TmuxSessions(pane.server)
    if why := tmux.remove(tmux.seat(pane.id)):
        raise RefusedError(f"pane {pane.id}, which is left of {row.name}, could not be closed: {why}")
