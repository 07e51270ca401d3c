"""Sessions as `story-automator` knows them: by their whole names, on the tmux server that we are on.

Those that it started have a record of ours, which tells more than tmux can. Others may be there too: of the published
programs, or of people.
"""

from __future__ import annotations

import os
import time

from midwatch.cli import context
from midwatch.cli.parser import Options
from midwatch.compat.story_automator import project
from midwatch.config import load as files
from midwatch.config import paths as config_paths
from midwatch.core.errors import RefusedError
from midwatch.core.job_model import PaneRef, Record
from midwatch.core.numbers import parse_whole_number
from midwatch.core.policy import PATIENT, Policy
from midwatch.core.states import VerdictState
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.sessions import last_output
from midwatch.sessions.rules import managed_verdict
from midwatch.system import exit_status
from midwatch.system.atomic_files import open_plain
from midwatch.system.process_tree import ProcessTrees
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec import commands as codec
from midwatch.tmux.codec import pane_list

PREFIX = "sa-"
LIMIT = 10.0
LARGEST = 1 << 20
NONE = ("can't find", "no current target", "no sessions")
"""What tmux says where there is no such session, or none at all."""
TOLD = (
    "#{session_name}\t#{session_path}\t#{pane_id}\t#{pid} #{start_time}\t#{pane_pid}\t#{pane_dead}"
    "\t#{pane_dead_status}\t#{pane_dead_signal}\t#{pane_current_path}"
)


class StorySession(Value):
    """A session that tmux has, with the first of its panes."""

    name: str
    path: str
    """The directory that it was made for."""
    seat: PaneRef
    pid: int = 0
    dead: bool = False
    code: int | None = None
    signal: int | None = None
    """How the pane's process ended, as far as tmux tells."""
    current: str = ""
    """The directory that its pane is in now."""


def session_policy(root: str) -> Policy:
    """How patient to be, as for any session of the project; but here the status line's clock has the last word."""
    return context.read_policy(Options("monitor"), files.load(config_paths.project_root(root)))._replace(clock="final")


def job_observer(root: str) -> JobDirectory:
    return JobDirectory(config_paths.sentinel_directory(start=root), lambda: session_policy(root))


def find_record(looker: JobDirectory, session: str) -> Record | None:
    """Our record of a session, if it is one of ours."""
    found = looker.facts(session).record
    return found if found is not None and found.pane is not None else None


def list_sessions() -> list[StorySession]:
    """Every session of the server; RefusedError where it cannot be told."""
    return _first_panes(pane_list.server_panes(TOLD))


def find_session(session: str) -> StorySession | None:
    """Exactly that session: tmux itself would take any whose name begins like that."""
    return next((each for each in _first_panes(pane_list.session_panes(session, TOLD)) if each.name == session), None)


def _first_panes(asked: list[str]) -> list[StorySession]:
    path = tmux_client.socket_path(())
    if not tmux_client.is_socket(path) and not tmux_client.find_refusal(path):
        return []
    try:
        answer = tmux_client.run_client(path, asked, time.monotonic() + LIMIT)
    except OSError as error:
        raise RefusedError(f"tmux cannot be asked: {error.strerror}; is it installed?") from error
    if answer.late:
        raise RefusedError(f"tmux did not answer within {LIMIT:g} s")
    if not answer.out and answer.errors and not answer.errors.startswith(NONE):
        trouble = codec.read_trouble(answer.errors, path)
        if trouble.cause != codec.ABSENT:
            raise RefusedError(trouble.words)
    found: dict[str, StorySession] = {}
    for line in answer.out.decode(errors="replace").splitlines():
        name, where, pane, life, pid, dead, code, signal, now = [*line.split("\t"), *9 * [""]][:9]
        seat = PaneRef(("-S", path), pane, name, life)
        ended = (dead == "1", parse_whole_number(code), parse_whole_number(signal))
        found.setdefault(name, StorySession(name, where, seat, parse_whole_number(pid) or 0, *ended, now))
    return list(found.values())


def find_end(there: StorySession, *, sure: bool = True) -> Verdict | None:
    """How the process of a session that is not ours ended; None while it lives, or where it may still be told."""
    if not there.dead:
        return None
    code, signal = there.code, there.signal
    if (
        code is None and signal is None and (found := exit_status.read_zombie_status(there.pid)) is not None
    ):  # tmux 3.3a may miss it
        signal = os.WTERMSIG(found) if os.WIFSIGNALED(found) else None
        code = None if signal else os.WEXITSTATUS(found)
    if code is None and signal is None and not sure:
        return None
    state: VerdictState = "crashed" if code is None else "failed" if code else "completed"
    return Verdict(
        there.name, "session", state, True, "it ended", "gone", "unknown",
        cause="exit" if code is not None else "signal" if signal is not None else "exit-unseen",
        exit_code=code, signal=signal,
    )  # fmt: skip


def find_idle_shell(there: StorySession) -> Verdict | None:
    """What is to be said of a session that is not ours, has no agent, and is a shell that runs nothing."""
    found = managed_verdict.find_idle_shell(ProcessTrees().below(there.pid))
    why = f"{found} is at its prompt; no agent is to be seen in it"
    return Verdict(
        there.name, "session", "idle", False, why, "alive", "unknown", "at-prompt",
        turn="idle", detail=managed_verdict.SHELL,
    ) if found else None  # fmt: skip


def belongs_to_project(session: StorySession, root: str) -> bool:
    """Whether a session is this project's: projects of one name have the same slug, but not the same directory."""
    return session.name.startswith(PREFIX) and os.path.realpath(session.path) == root


def find_project(session: str, caller: str) -> str:
    """The project whose files decide about a session: its own, whoever asks; the caller's where nothing tells it."""
    try:
        found = find_session(session)
    except RefusedError:
        found = None
    return find_project_with(found, session, caller)


def find_project_with(found: StorySession | None, session: str, caller: str) -> str:
    """The same, where it is known already what tmux has of that name."""
    if found is not None:
        own = find_record(job_observer(os.path.realpath(found.path)), session)
        paths = [path for path in (found.current, found.path) if path]
        return os.path.realpath(own.cwd) if own else project.find_project_around(paths, caller)
    kept = [find_record(JobDirectory(directory, PATIENT), session) for directory in _directories(session, caller)]
    records = [record for record in kept if record is not None]
    return os.path.realpath(max(records, key=lambda record: record.started).cwd) if records else caller


def _directories(session: str, caller: str) -> list[str]:
    """Where a session that tmux has no more may have its record: with the caller's, else with any project's."""
    own = config_paths.sentinel_directory(start=caller)
    if os.path.exists(f"{own}/{session}.json") or os.environ.get("MIDWATCH_HOME"):
        return [own]
    try:
        every = [entry.path for entry in os.scandir(config_paths.state_root())]
    except OSError:
        return []
    return [path for path in every if os.path.exists(f"{path}/{session}.json")]


def last_shown_output(looker: JobDirectory, session: str, seat: PaneRef | None) -> str:
    """The last that it has shown; of one whose pane is gone, what was captured of it."""
    log = f"{looker.directory}/{session}.log"
    return last_output.last_log_lines(log) if seat is None else last_output.last_lines(seat, log)


def save_output(root: str, session: str, text: str) -> str:
    """Write down what a session has shown, where scripts look for it. Returns the path; empty where nothing is."""
    if not text:
        return ""
    path = project.output_file(root, session)
    try:
        write(path, text)
    except OSError:  # in a directory for all, the name may be taken by somebody else's file
        path = f"{config_paths.sentinel_directory(start=root)}/{session}.output"
        write(path, text)
    return path


def write(path: str, text: str) -> None:
    """Replace a file in a directory that others may write to, too: nobody can have made the new one before us."""
    fresh = f"{os.path.dirname(path)}/.{os.urandom(8).hex()}"
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        os.rename(fresh, path)
    except OSError:
        os.unlink(fresh)
        raise


def read(path: str) -> str:
    """A file that we wrote there; empty where there is none, or it is not ours."""
    try:
        with open(open_plain(path), encoding="utf-8", errors="replace") as file:
            return file.read(LARGEST) if os.fstat(file.fileno()).st_uid == os.geteuid() else ""
    except OSError:
        return ""
