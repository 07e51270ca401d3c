"""What is left in a pane where an agent was: what has the terminal now, and which conversation it was.

The id is only ever one that somebody knew: the watcher that saw the agent, its hook in that very pane, or the agent
itself with its last words above the shell's prompt. Never "the latest", never one that another process has open.
"""

from __future__ import annotations

import os
import shlex

from midwatch.agents import exit_message, launch
from midwatch.agents.conversation_exists import ConversationIndex
from midwatch.agents.conversation_holders import find_holders
from midwatch.agents.definition import Detector, is_agent
from midwatch.config import paths, sentinel_files
from midwatch.core.errors import FormatError, RefusedError
from midwatch.core.job_model import Record
from midwatch.core.pane_model import Pane, ProcessInfo
from midwatch.core.presence import GONE
from midwatch.core.shells import POSIX_SHELLS
from midwatch.jobs import monitor_store
from midwatch.jobs.codec import sentinel
from midwatch.sessions import conversation_lease, resume, spawn
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting.rules.recovery import ExitedAgent, ForegroundProgram
from midwatch.system import process_tree
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec import sgr
from midwatch.tmux.sessions import TmuxSessions

"""Those that read a line as it is written here."""
STOPPED = "Tt"


def find_front(tasks: tuple[ProcessInfo, ...], command: str, agent: Detector | None) -> ForegroundProgram:
    """What has the terminal. ``agent``: whose process may be suspended behind it."""
    ahead = [task for task in tasks if task.foreground]
    found = find_shell(tasks)
    if found is None:
        return ForegroundProgram(ahead[0].name if ahead else command)
    jobs = {task.pid: job for task in tasks if (job := _child_of_shell(task, tasks, found.pid))}
    agents = {jobs.get(task.pid) for task in tasks if agent and task.letter in STOPPED and is_agent(agent, task)}
    others = [task for task in tasks if task.letter in STOPPED and jobs.get(task.pid, 0) not in agents]
    stopped = tuple(f"{task.name} ({task.pid})" for task in others)
    return ForegroundProgram(found.name, prompt=True, stopped=stopped, owned=bool(agents - {None}))


def find_shell(tasks: tuple[ProcessInfo, ...]) -> ProcessInfo | None:
    """The shell that waits at its prompt: alone in the foreground, asleep, and started to be typed to."""
    ahead = [task for task in tasks if task.foreground]
    if len(ahead) != 1 or ahead[0].name not in POSIX_SHELLS or ahead[0].letter != "S":
        return None
    given = ahead[0].args[1:]
    script = any(not word.startswith("-") or (word[1:2] != "-" and "c" in word) for word in given)
    return ahead[0] if "-i" in given or not script else None


def _child_of_shell(task: ProcessInfo, tasks: tuple[ProcessInfo, ...], shell: int) -> int:
    """The child of the shell that a process is, or is below; 0 where it is elsewhere."""
    parents = {each.pid: each.parent for each in tasks}
    pid = task.pid
    while pid and parents.get(pid, 0) != shell:
        pid = parents.get(pid, 0)
    return pid


# Which conversation -------------------------------------------------------------------------------------------------


def find_exited_agent(panes: PaneObserver, pane: Pane, rows: tuple[str, ...], directory: str) -> ExitedAgent:
    """The agent that was in a pane, as far as somebody knew it."""
    if pane.dead:
        record = find_record(pane, directory)
        return _from_record(panes, record, directory) if record else ExitedAgent()
    known, shell = panes.known.get(pane.id), find_shell(panes.tasks.get(pane.id, ()))
    agent, talk = (known.detector, known.conversation) if known else (None, "")
    if shell is None:
        return ExitedAgent(agent.agent if agent else "", talk)
    said = exit_message.read(panes.detectors, sgr.split_styles(rows)[0], (pane.cursor_x, pane.cursor_y))
    if said and said.since and talk in ("", said.conversation):
        return ExitedAgent(said.agent.agent, "", "something was run there since; that shell may be somebody's now")
    if agent is None or not talk:
        told = _conversations_in_hooks(panes, pane, shell, agent)
        told |= {said.conversation: said.agent} if said else {}
        if len(told) > 1:
            return ExitedAgent(agent.agent if agent else "?", "", f"which conversation it was? {' or '.join(told)}")
        talk, agent = next(iter(told.items()), ("", agent))
    if agent is None or not talk:
        return ExitedAgent(agent.agent if agent else "")
    environment = known.running.environment if known and known.running else process_tree.read_environment(shell.pid)
    return ExitedAgent(agent.agent, talk, _find_obstacle(agent, talk, environment))


def _conversations_in_hooks(
    panes: PaneObserver, pane: Pane, shell: ProcessInfo, agent: Detector | None
) -> dict[str, Detector]:
    """Conversations of agents that told their hooks, since the pane's shell began, of all but their end."""
    since = process_tree.find_running_agent(shell, "", ())
    found: dict[str, Detector] = {}
    for each in (agent,) if agent else panes.detectors:
        report = panes.hooks.read(since._replace(agent=each.agent), pane) if since else None
        if report and report.words.get("event") != "SessionEnd" and (talk := report.words.get("conversation")):
            found[talk] = each
    return found


def _find_obstacle(agent: Detector, talk: str, environment: dict[str, str]) -> str:
    if agent.start is None or not agent.start.resume:
        return f"nobody has written down how {agent.title} resumes a conversation"
    if others := find_holders(agent, talk) or conversation_lease.find_holders(agent.agent, talk, agent.start.daemons):
        return f"its conversation is open in another process ({', '.join(map(str, others))})"
    artifacts = ConversationIndex()
    artifacts.begin()
    if artifacts.there(agent.agent, talk, environment) == GONE:
        return f"what {agent.title} had written of conversation {talk} is not to be found"
    return ""


def resume_line(panes: PaneObserver, pane: Pane, found: ExitedAgent) -> str:
    """What is typed to the shell for it: exactly that conversation, in the directory in which it was."""
    known = panes.known.get(pane.id)
    cwd = known.running.cwd if known and known.running else ""
    how = spawn.find_launch_rules(pane.id, find_detector(panes, found.agent), cwd or pane.path)
    words = shlex.join(launch.resume_command(how, found.conversation, ()))
    elsewhere = cwd and os.path.realpath(cwd) != os.path.realpath(pane.path)
    return f"cd {shlex.quote(cwd)} && {words}" if elsewhere else words


def find_detector(panes: PaneObserver, agent: str) -> Detector:
    found = next((each for each in panes.detectors if each.agent == agent), None)
    if found is None:
        raise RefusedError(f"there is no file for the agent {agent} any more")
    return found


# Sessions of ours ---------------------------------------------------------------------------------------------------


def find_record(pane: Pane, directory: str) -> Record | None:
    """The session of ours whose last process ended in that very pane."""
    if paths.find_sharing(directory) or not os.path.isdir(directory):
        return None
    seat = TmuxSessions(pane.server).seat(pane.id)
    for name in sorted(os.listdir(directory)):
        if not name.endswith(".json") or name.startswith("."):
            continue
        try:
            record = sentinel.decode_record(sentinel_files.read(f"{directory}/{name}") or "")
        except FormatError:
            continue
        own = record.pane
        if own and own.id == seat.id and own.life == seat.life and _is_same_path(own.server, seat.server):
            return record
    return None


def _is_same_path(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return os.path.realpath(tmux_client.socket_path(one)) == os.path.realpath(tmux_client.socket_path(other))


def _from_record(panes: PaneObserver, record: Record, directory: str) -> ExitedAgent:
    base = f"{directory}/{record.name}"
    if monitor_store.is_stop_requested(base, record.started):
        return ExitedAgent(record.agent, "", f"somebody stopped it; `midwatch resume {record.name}` brings it back")
    try:
        return ExitedAgent(record.agent, resume.find_conversation(base, record, find_detector(panes, record.agent)))
    except RefusedError as error:
        return ExitedAgent(record.agent, "", str(error))
