"""Who has a conversation open, whoever started it: its id on the command line, in an open file, in a state file."""

from __future__ import annotations

import contextlib
import os

from midwatch.agents.definition import Detector, is_agent
from midwatch.agents.state_file_reader import StateFiles
from midwatch.core.pane_model import ProcessInfo
from midwatch.system import procfs
from midwatch.system.process_tree import find_running_agent


def find_holders(agent: Detector, conversation: str) -> list[int]:
    """Processes of this agent that live and have that conversation; daemons that serve all are none."""
    return [task.pid for task in find_running_agents(agent) if _has_open(agent, task, conversation)]


def find_running_agents(agent: Detector) -> list[ProcessInfo]:
    """All its processes on this machine that live, in a pane or not.

    Those of other users do not count, but for root's, and for root, who may run agents as others: a command line says
    what its user likes, and must not keep a conversation of ours from being resumed.
    """
    me = os.geteuid()
    found = []
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with contextlib.suppress(OSError, ValueError, IndexError):
            if me and os.stat(f"/proc/{pid}").st_uid not in (me, 0):
                continue
            fields = procfs.stat_fields(pid)
            args = tuple(procfs.read_text(f"/proc/{pid}/cmdline").rstrip("\0").split("\0"))
            task = ProcessInfo(pid, int(fields[1]), fields[0], procfs.command_name(pid), args, int(fields[19]))
            if task.letter not in "ZX" and is_agent(agent, task):
                found.append(task)
    return found


def _has_open(agent: Detector, task: ProcessInfo, conversation: str) -> bool:
    if any(conversation in word for word in task.args):
        return True
    who = find_running_agent(task, agent.agent, agent.variables)
    report = StateFiles().read(who) if who else None
    if report is not None and report.words.get("conversation"):
        return report.words["conversation"] == conversation
    with contextlib.suppress(OSError):
        for fd in os.listdir(f"/proc/{task.pid}/fd"):
            with contextlib.suppress(OSError):
                if conversation in os.path.basename(os.readlink(f"/proc/{task.pid}/fd/{fd}")):
                    return True
    return False
