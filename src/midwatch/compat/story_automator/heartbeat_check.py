"""`story-automator heartbeat-check`: is a session's agent at work, at its prompt, or gone? One line of four cells."""

from __future__ import annotations

import time

from midwatch.compat.story_automator import project, sessions, status_check
from midwatch.compat.story_automator.arguments import Arguments
from midwatch.core.errors import MidwatchError
from midwatch.core.verdict import Verdict
from midwatch.system.process_tree import ProcessTrees

SPAN = 0.2
"""Seconds over which CPU is measured: its share since the process began tells nothing of now."""


def main(words: list[str]) -> int:
    given = Arguments(words, ("--agent", "--project-root"))
    if given.flag("--help"):
        print(
            "Usage: heartbeat-check <session_name> [--agent TYPE] [--project-root PATH]\nPrints: status,cpu,pid,prompt"
        )
        return 0
    if len(given.names) != 1:
        print("error,0.0,,no_session")
        return 0
    session = project.check_session(given.names[0])
    root = sessions.find_project(session, project.resolve_project(given.text("--project-root")))
    try:
        looked = status_check.check_session(root, session)
    except MidwatchError:
        print("error,0.0,,tmux_unreadable")
        return 0
    verdict, pid = looked.verdict, looked.agent[0]
    if verdict.state == "not_found":
        print("error,0.0,,session_not_found")
        return 0
    if not pid and not verdict.final:
        record = sessions.find_record(sessions.job_observer(root), session)
        pid = record.work.pid if record else 0
    share = 0.0 if verdict.final or not pid else _cpu_percent(pid)
    at_prompt = "true" if verdict.turn == "idle" else "false"
    print(f"{_status_word(verdict)},{share:.1f},{pid or ''},{at_prompt}")
    return 0


def _status_word(verdict: Verdict) -> str:
    match verdict.state:
        case "completed":
            return "completed"
        case "failed" | "crashed" | "stopped" | "abandoned" | "timeout":
            return "dead"
        case "working" | "limited" | "starting":
            return "alive"
        case "unknown" if verdict.final:
            return "dead"
        case "unknown":
            return "alive" if verdict.process in ("alive", "unsupervised") else "error"
        case _:
            return "idle"


def _cpu_percent(pid: int) -> float:
    """Percent of a core that a process and all below it use now."""
    trees = ProcessTrees()
    before, began = sum(task.cpu_s for task in trees.below(pid, usage=True)), time.monotonic()
    time.sleep(SPAN)
    used = sum(task.cpu_s for task in trees.below(pid, usage=True)) - before
    return max(0.0, 100 * used / (time.monotonic() - began))
