"""`story-automator tmux-wrapper`: sessions for the steps of stories, by names that tell which."""

from __future__ import annotations

import os
import sys
import time

from midwatch.compat.story_automator import project, sessions
from midwatch.compat.story_automator.arguments import Arguments
from midwatch.compat.story_automator.sessions import StorySession
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.text import visible

USAGE = """\
Usage: tmux-wrapper <action> [args...]

Actions:
  spawn <step> <epic> <story_id> [--command "..."] [--cycle N] [--agent TYPE]
  name <step> <epic> <story_id> [--cycle N]
  list [--project-only]
  kill <session_name>
  kill-all [--project-only]
  exists <session_name>
  build-cmd <step> <story_id> [--agent TYPE] [--state-file PATH] [extra_instruction]
  project-slug | project-hash | story-suffix <story_id> | agent-type | agent-cli | skill-prefix
"""
NAME_ACTIONS = ("project-slug", "project-hash", "story-suffix", "agent-type", "agent-cli", "skill-prefix")
SIZE = (200, 50)
STAMP = "%y%m%d-%H%M%S"
KEPT = 24 * 3600.0
"""Seconds after which what a session of this project has left in the directory for temporary files is taken away."""


def main(words: list[str]) -> int:
    if not words:
        print(USAGE, end="", file=sys.stderr)
        return 1
    action, rest = words[0], words[1:]
    match action:
        case "--help" | "-h":
            print(USAGE, end="")
            return 0
        case "spawn":
            return _spawn_session(rest)
        case "name":
            return _print_name(rest)
        case "list":
            print("\n".join(visible(each.name) for each in _list_sessions(rest)))
            return 0
        case "kill":
            return _kill_session(rest)
        case "kill-all":
            return _kill_sessions(rest)
        case "exists":
            found = sessions.find_session(project.check_session(_parse_session(rest, "exists"))) is not None
            print("true" if found else "false")
            return 0 if found else 1
        case "build-cmd":
            from midwatch.compat.story_automator import build_cmd

            return build_cmd.main(rest)
    if action in NAME_ACTIONS:
        return _print_project_name(words)
    print(f"Unknown action: {project.shorten_word(action)}\n{USAGE}", end="", file=sys.stderr)
    return 1


# Names ------------------------------------------------------------------------------------------------------------


def _print_project_name(words: list[str]) -> int:
    """How this project, a story and its agent are called. ``words[0]`` is one of NAME_ACTIONS."""
    from midwatch.compat.story_automator import agent_command

    match words[0]:
        case "project-slug":
            print(project.project_slug(project.project_root()))
        case "project-hash":
            print(project.path_digest(project.project_root()))
        case "story-suffix":
            if len(words) == 1:
                raise UsageError("story-suffix needs a story: story-suffix 5.3")
            print(project.story_suffix(project.check_story(words[1])))
        case "agent-type":
            print(agent_command.selected_agent(None))
        case "agent-cli":
            print(agent_command.agent_program(None))
        case _:
            print(agent_command.workflow_prefix(project.project_root(), agent_command.selected_agent(None)))
    return 0


class _SessionRequest:
    """A session that is asked for, as far as its name tells."""

    def __init__(self, given: Arguments, root: str) -> None:
        step, epic, story, cycle, *_ = (*given.names, *4 * [""])
        if not story:
            raise UsageError("a session needs <step> <epic> <story_id>; `tmux-wrapper --help` shows how")
        self.step = project.check_step(step)
        self.epic = project.epic_number(epic)
        self.story = project.check_subject(self.step, story)
        self.cycle = given.text("--cycle") or cycle
        if self.cycle and not (self.cycle.isascii() and self.cycle.isdigit()):
            raise UsageError(f"--cycle is a number, not {project.shorten_word(self.cycle)}")
        self.root = root

    def name(self, second: float) -> str:
        stamp = time.strftime(STAMP, time.localtime(second))
        return project.session_name(
            project.project_slug(self.root), stamp, self.epic, self.story, self.step, self.cycle
        )


def _print_name(words: list[str]) -> int:
    root = project.project_root()
    print(_free_name(_SessionRequest(Arguments(words, ("--cycle",)), root), _taken_names(root)))
    return 0


def _taken_names(root: str) -> set[str]:
    """Names that somebody has, or had: a name means one session for ever."""
    directory = sessions.job_observer(root).directory
    try:
        had = {name.removesuffix(".json") for name in os.listdir(directory) if name.endswith(".json")}
    except FileNotFoundError:
        had = set()
    return had | {each.name for each in sessions.list_sessions()}


def _free_name(wanted: _SessionRequest, taken: set[str]) -> str:
    """The name with the first second, from now on, that nobody has: two within one second are not the same."""
    second = time.time()
    while (name := wanted.name(second)) in taken:
        second += 1
    return name


# Starting ---------------------------------------------------------------------------------------------------------


def _spawn_session(words: list[str]) -> int:
    from midwatch.config import paths
    from midwatch.system import file_locks
    from midwatch.tmux.sessions import SessionNameTakenError

    given, root = Arguments(words, ("--command", "--cycle", "--agent")), project.project_root()
    wanted = _SessionRequest(given, root)
    command = given.text("--command")
    if command is not None and not command.strip():
        raise UsageError("--command is empty; build one with `story-automator tmux-wrapper build-cmd`")
    looker = sessions.job_observer(root)
    paths.prepare_directory(looker.directory)
    _remove_old_files(root)
    with file_locks.ExclusiveLock(f"{looker.directory}/spool/story-automator.lock"):
        taken = _taken_names(root)
        while True:
            name = _free_name(wanted, taken)
            try:
                _start_session(root, name, command, given.text("--agent"))
            except SessionNameTakenError:
                taken.add(name)  # by another project, meanwhile
            else:
                print(name)
                return 0


def _start_session(root: str, name: str, command: str | None, agent: str | None) -> None:
    import shutil

    from midwatch.agents import catalog
    from midwatch.compat.story_automator.agent_command import selected_agent
    from midwatch.config import paths
    from midwatch.core.policy import SESSION
    from midwatch.notifications import report_change
    from midwatch.sessions import spawn

    which, looker = selected_agent(agent), sessions.job_observer(root)
    shell = shutil.which("bash") or "/bin/sh"  # what build-cmd writes is for either, not for any shell that people use
    patience = looker.policy._replace(timeout_s=None, on_stuck="report", clock="life")
    spawn.start_conversation(
        looker,
        spawn.SpawnRequest(
            name, catalog.load(which), root, (),
            notify=report_change.find_configured_project(paths.project_root(root)), size=SIZE,
            policy=patience if command else SESSION,  # a shell may wait for its user as long as it likes
            command=(shell, "-c", command) if command else (os.environ.get("SHELL") or shell,),
            env={"STORY_AUTOMATOR_CHILD": "true", "AI_AGENT": which, "CLAUDECODE": "", "BASH_ENV": ""},
        ),
    )  # fmt: skip


def _remove_old_files(root: str) -> None:
    """Take away what sessions of this project left a day ago and nobody has cleaned up."""
    some = project.output_file(root, "")
    directory, old = os.path.dirname(some), time.time() - KEPT
    starts = (os.path.basename(some).removesuffix(".txt"), f".sa-{project.path_digest(root)}-session-")
    try:
        for entry in os.scandir(directory):
            seen = entry.stat(follow_symlinks=False) if entry.name.startswith(starts) else None
            if seen and seen.st_uid == os.geteuid() and seen.st_mtime < old:
                os.unlink(entry.path)
    except OSError:
        pass  # whoever comes next takes it away


# Ending -----------------------------------------------------------------------------------------------------------


def _list_sessions(words: list[str]) -> list[StorySession]:
    given, root = Arguments(words), project.project_root()
    mine = given.flag("--project-only")
    return [
        each
        for each in sessions.list_sessions()
        if (sessions.belongs_to_project(each, root) if mine else each.name.startswith(sessions.PREFIX))
    ]


def _kill_session(words: list[str]) -> int:
    root, name = project.project_root(), project.check_session(_parse_session(words, "kill"))
    _end_session(root, name, sessions.find_session(name))
    return 0


def _kill_sessions(words: list[str]) -> int:
    root, ended, left = project.project_root(), 0, []
    for each in _list_sessions(words):
        try:
            ended += _end_session(root, each.name, each)
        except RefusedError as error:
            left.append(f"{each.name}: {error}")
    print(f"Killed {ended} sessions")
    for why in left:
        print(f"story-automator: {visible(why)}", file=sys.stderr)
    return 1 if left else 0


def _end_session(root: str, name: str, there: StorySession | None) -> bool:
    """End exactly that session and what it has left. False where there is none."""
    from midwatch.jobs import stop
    from midwatch.tmux.sessions import TmuxSessions

    own = sessions.find_project_with(there, name, root)
    looker = sessions.job_observer(own)
    record = sessions.find_record(looker, name)
    if record is not None and record.pane is not None:
        stop.stop_job(looker, name)
        why = TmuxSessions(record.pane.server).close(record.pane)
    else:
        why = TmuxSessions(there.seat.server).close(there.seat) if there else ""
    if why:
        raise RefusedError(f"{name} could not be ended: {why}")
    for path in (project.output_file(own, name), project.state_file(own, name)):
        try:
            os.unlink(path)
        except OSError:
            pass  # there is none, or it is not ours
    return record is not None or there is not None


def _parse_session(words: list[str], action: str) -> str:
    given = Arguments(words)
    if len(given.names) != 1:
        raise UsageError(f"tmux-wrapper {action} needs one <session_name>")
    return given.names[0]
