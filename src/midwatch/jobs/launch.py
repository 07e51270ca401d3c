"""Starting a job: make a process a subreaper, let it become the shim, hand it the specification."""

from __future__ import annotations

import ctypes
import marshal
import os
import sys
import time

from midwatch.core.job_model import Adopted, Breaker, PaneRef
from midwatch.core.policy import Policy
from midwatch.core.value import Value
from midwatch.shim import drop_box
from midwatch.system import procfs
from midwatch.system.child_environment import SECRETS, without_secrets

SCHEMA = 1
MARK = "MIDWATCH_"
BROKER = "MIDWATCH_MQTT_"
"""Variables that say where ends are published: whoever tells of them needs these."""
PR_SET_CHILD_SUBREAPER = 36
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class JobSpec(Value):
    directory: str
    name: str
    run: str
    command: list[str]
    cwd: str
    env: dict[str, str]
    """What --env added; the work inherits the caller's environment besides. Of a job only the names are written."""
    policy: Policy
    foreground: bool
    retries: int = 0
    backoff_s: float = 30.0
    breaker: Breaker | None = None
    again: str = ""
    """The run that this one repeats."""
    notify: str = ""
    """The project whose settings say who is told how it went; empty where nobody is."""
    adopted: Adopted | None = None
    """Set for work that somebody else started: then it is kept and not run, and the next two tell of it."""
    work: tuple[int, int] = (0, 0)
    """Pid and start time."""
    notes: tuple[str, ...] = ()
    agent: str = ""
    pane: PaneRef | None = None
    """Set for a session; then the shim runs in that pane."""
    conversation: str = ""
    options: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()
    """In command lines of what the work may start and others need too: it is not ended with it."""
    without: tuple[str, ...] = ()
    """Variables of ours that the work does not get."""
    attempt: int = 1
    verify: str = ""
    """What tells whether the work is there; empty where nothing does."""
    since: float | None = None
    """When the work began that is to be verified, if not with this run (wall)."""


class LaunchedShim(Value):
    """The process that is, or is about to become, a job's shim."""

    pid: int
    control: int
    """Where it says: started, suspended, continued, ended."""


def new_run_id() -> str:
    """An id for one run: sortable by time, unique without a register."""
    return f"{time.time_ns() // 1_000_000:x}-{os.urandom(3).hex()}"


def shim_command() -> list[str]:
    return [sys.executable, *procfs.SHIM, ROOT]


def supervisor_command() -> list[str]:
    return [sys.executable, *procfs.KEEPER, ROOT]


def sender_command(directory: str, name: str = "", run: str = "", report: str = "") -> list[str]:
    """What delivers notices. Before that it looks at a job, if one is named, and tells what became of it.

    ``report``: what a watcher has just filed. It is only named so that others can see that somebody takes care of it.
    """
    found = [sys.executable, *procfs.BESIDE, ROOT, "_deliver", "--dir", directory]
    if report:
        return [*found, "--report", report]
    return [*found, "--run", run, name] if name else found


def launch_shim(
    job: JobSpec, lease: int, stdio: tuple[int, int, int], *, tty: bool, command: list[str] | None = None
) -> LaunchedShim:
    """Start the shim of a job; it holds the lease and the streams from now on. The caller has 0, 1 and 2 open."""
    listening, control = os.pipe()
    feeding, feed = os.pipe()[::-1]
    libc = ctypes.CDLL(None)
    errors = open_error_log(job.directory)
    argv, env = command or shim_command(), unmarked_environment()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # kept across exec, so the shim need not load ctypes
            os.dup2(feed, 0)
            os.dup2(errors, 1)
            os.dup2(errors, 2)
            for fd in {*stdio, control, lease}:
                os.set_inheritable(fd, True)
            os.execve(argv[0], argv, env)  # noqa: S606
        finally:
            os._exit(127)
    os.close(feed)
    os.close(control)
    os.close(errors)
    with open(feeding, "wb") as pipe:
        pipe.write(marshal.dumps(build_specification(job, control, lease, stdio, tty=tty)))
    return LaunchedShim(pid, listening)


def open_error_log(directory: str) -> int:
    """Where a shim says what breaks it, open for writing."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(f"{directory}/spool/shim.err", flags, 0o600)


def unmarked_environment() -> dict[str, str]:
    """Our environment for a process of ours: started from within another job, it is not that job's to count or to end.

    It has our secrets, for whoever delivers notices needs them.
    """
    kept = (BROKER, *SECRETS)
    return {key: value for key, value in os.environ.items() if not key.startswith(MARK) or key.startswith(kept)}


def build_specification(
    job: JobSpec, control: int, lease: int, stdio: tuple[int, int, int], *, tty: bool
) -> dict[str, object]:
    inherited = {key: value for key, value in without_secrets(os.environ).items() if key not in job.without}
    withheld = [] if job.pane else list(job.env)  # of a session they are our own
    marks = {f"{MARK}DIR": drop_box.box_path(job.directory, job.name), f"{MARK}NAME": job.name, f"{MARK}RUN": job.run}
    return {
        "dir": job.directory,
        "name": job.name,
        "argv": job.command,
        "cwd": job.cwd,
        "env": {**inherited, **job.env, **marks},
        "secrets": list(SECRETS),
        "decide": [sys.executable, *procfs.BESIDE, ROOT, "_decide", job.name, "--dir", job.directory],
        "tell": sender_command(job.directory, job.name, job.run) if job.notify else None,
        "stdio": list(stdio),
        "control": control,
        "lock": lease,
        "tty": tty,
        "leases": [],
        "work": job.work,
        "notes": list(job.notes),
        "head": {
            "schema": SCHEMA,
            "kind": "session" if job.pane else "job",
            "name": job.name,
            "run": job.run,
            "command": job.command,
            "cwd": job.cwd,
            "env": job.env | dict.fromkeys(withheld, ""),
            "policy": {**job.policy.written(), "progress": list(job.policy.progress)},
            "foreground": job.foreground,
            "retries": job.retries,
            "backoff_s": job.backoff_s,
            "breaker": job.breaker._asdict() if job.breaker else None,
            "again": job.again or None,
            "adopted": job.adopted._asdict() if job.adopted else None,
            **({} if job.adopted else {"drop": True}),
            "attempt": job.attempt,
            **({"withheld": withheld} if withheld else {}),
            **({"notify": job.notify} if job.notify else {}),
            "agent": job.agent or None,
            "pane": job.pane._asdict() if job.pane else None,
            "conversation": job.conversation or None,
            **({"options": list(job.options)} if job.options else {}),
            **({"spare": list(job.spare)} if job.spare else {}),
            **({"verify": job.verify} if job.verify else {}),
            **({"since": job.since} if job.since is not None else {}),
        },
    }
