"""Where benchmarks play: directories of their own, and processes that are all ended when it is over.

We are the reaper of everything below us, so what any of it leaves behind becomes our child: at the end every
descendant is ended by its pid, and no pid there can be another's.
"""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from types import TracebackType
from typing import Any, Self

from bench.waiting import end_of, now
from midwatch.system import procfs

AT_ONCE = 4
PR_SET_CHILD_SUBREAPER = 36
HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.dirname(sys.executable)


class Stage:
    def __init__(self) -> None:
        self.root = tempfile.mkdtemp(prefix="midwatch-bench-")
        self.env = {"HOME": self.root, "TMPDIR": self.root, "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        self.program = f"{BIN}/midwatch"
        self.dirs = 0
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        while left := procfs.descendants(os.getpid()):
            for pid in left:
                kill(pid)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            time.sleep(0.01)
        shutil.rmtree(self.root, ignore_errors=True)

    def dir(self, name: str) -> str:
        self.dirs += 1
        path = f"{self.root}/{name}-{self.dirs}"
        os.mkdir(path, 0o700)
        return path

    def start(self, *command: str, more: dict[str, str] | None = None, **popen: Any) -> subprocess.Popen[bytes]:
        """Start a command, with more in its environment; its output comes through a pipe."""
        how: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.DEVNULL,
            "cwd": self.root,
        } | popen
        return subprocess.Popen(command, env=self.env | (more or {}), bufsize=0, text=False, **how)

    def time(self, *command: str, more: dict[str, str] | None = None, **popen: Any) -> float:
        """Seconds that a command takes from start to end, output thrown away. One that fails is no measure."""
        began = now()
        ended, code = end_of(self.start(*command, more=more, stdout=subprocess.DEVNULL, **popen))
        if code:
            raise RuntimeError(f"{' '.join(command[:3])} ended with {code}")
        return ended - began

    def wait_for(self, directory: str, *names: str) -> subprocess.Popen[bytes]:
        """A `midwatch wait` as anyone would start it; it may not wait yet when this returns."""
        return self.start(self.program, "wait", *names, "--dir", directory, "--json")

    def jobs(self, directory: str, names: list[str], *command: str) -> None:
        """Start jobs in the background, a few at a time."""
        for at in range(0, len(names), AT_ONCE):
            starting = [
                self.start(self.program, "run", "-d", "--dir", directory, "--name", name, "--", *command)
                for name in names[at : at + AT_ONCE]
            ]
            for one in starting:
                if end_of(one)[1]:
                    raise RuntimeError(f"a job did not start: {command}")


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def reap(pid: int) -> None:
    """Forget an orphan that came to us and has been killed."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


# Sentinel files ---------------------------------------------------------------------------------------------


def foreign(directory: str, name: str, pid: int) -> None:
    """What agentic-process-monitor's wrapper has written while its work runs."""
    for suffix, text in (("pid", f"{pid}\n"), ("heartbeat", "")):
        with open(f"{directory}/{name}.{suffix}", "w", encoding="ascii") as file:
            file.write(text)


def succeed(directory: str, name: str) -> float:
    """Leave a result, then rename a status into place. Returns the moment just before that rename."""
    base = f"{directory}/{name}"
    for path, text in ((f"{base}.result", '{"key": "value"}\n'), (f"{base}.tmp", "SUCCESS\n")):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    began = now()
    os.rename(f"{base}.tmp", f"{base}.status")
    return began


def pids_of(directory: str, name: str) -> tuple[int, int]:
    """Shim and work of one of our own jobs."""
    with open(f"{directory}/{name}.json", encoding="utf-8") as file:
        record = json.load(file)
    return record["shim"]["pid"], record["work"]["pid"]
