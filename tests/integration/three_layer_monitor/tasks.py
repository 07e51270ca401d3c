"""A task as the three-layer monitor makes one: a directory, a session with a captured pane, a wrapper typed into it."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from midwatch.system import processes, procfs
from midwatch.taskdir.model import TaskNumbers
from tests.conftest import PATIENCE, kill, tool, until
from tests.integration.panes.private import Private
from tests.integration.wait.watching import finish, listening

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
QUICK = TaskNumbers(base_s=0.4, max_s=0.8, deadline_s=600.0, grace_s=0.5, retries=10, dispatch_s=10.0)
"""Numbers that can be lived through in a test: silence counts after 1.2 s, and is enough after 1.7 s."""
PATIENT = QUICK._replace(base_s=200.0, max_s=400.0)
"""Nothing hangs; what happens is told by the kernel, or not at all."""


class Task:
    folder = "task of {}"

    def __init__(self, private: Private, home: Path, name: str = "claude-task", form: str = "manifest.json") -> None:
        self.private = private
        self.home = home
        self.name = name
        self.written = name.replace(".", "_")
        self.dir = home / self.folder.format(name)
        self.dir.mkdir(mode=0o700)
        self.form = form
        self.runs = self.dir / "runs.txt"
        self.gate_path = self.dir / "gate"
        os.mkfifo(self.gate_path)
        self._gate = os.open(self.gate_path, os.O_RDWR)
        self.wrapper = home / "scripts of mine" / "wrapper.sh"
        self.wrapper.parent.mkdir(exist_ok=True)
        shutil.copy(HERE / "wrapper.sh", self.wrapper)
        (self.dir / "prompt").write_text("Do it.\n")
        self.log = self.dir / "output.log"
        fields: dict[str, Any] = {
            "task_name": "task", "model": "sonnet", "project_dir": str(home), "session_name": name, "pid": 0,
            "tmpdir": str(self.dir), "started_at": "2026-02-19T01:03:51Z", "status": "running",
        }  # fmt: skip
        if form == "manifest":
            (self.dir / form).write_text("".join(f"{key}={value}\n" for key, value in fields.items()))
        elif form:
            (self.dir / form).write_text(json.dumps(fields))
        self.given = ""
        """The wrapper, if its monitors are to be told."""
        self.within: tuple[str, ...] = ()
        """What its monitors are run through."""
        self.seen: set[tuple[int, int]] = set()
        self.env = {
            "HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT / "src")
        }  # fmt: skip

    def plan(self, *commands: str) -> None:
        """What each agent does by itself, in the order of their starts."""
        (self.dir / "plan").write_text("".join(f"{command}\n" for command in commands))

    # The owner's part

    def open(self, *, capture: bool = True, variable: bool = True, shell: str = "") -> str:
        """Make the session, and capture its pane; its id."""
        given = {
            "STAND_IN_AGENT": str(HERE / "agent.sh"), "STAND_IN_GATE": str(self.gate_path),
            "STAND_IN_RUNS": str(self.runs), "STAND_IN_PYTHON": sys.executable,
        }  # fmt: skip
        if variable:
            given["TASK_TMPDIR"] = str(self.dir)
        pairs = [part for key, value in given.items() for part in ("-e", f"{key}={value}")]
        shell = shell or f"{tool('bash')} --norc --noprofile"
        made = self.private(
            "new-session", "-d", "-P", "-F", "#{pane_id}", "-s", self.name, "-x", "100", "-y", "20", *pairs, shell
        )  # fmt: skip
        self.pane = made.strip()
        if capture:
            self.private("pipe-pane", "-O", "-t", self.pane, f"cat >> {shlex.quote(str(self.log))}")
        return self.pane

    def dispatch(self, before: str = "") -> int:
        """Type the wrapper into the pane; the pid of its agent once that runs."""
        self.private("send-keys", "-t", self.pane, "-l", f"{before}bash {shlex.quote(str(self.wrapper))}")
        self.private("send-keys", "-t", self.pane, "Enter")
        return self.until_run(1)

    def begin(self, *, capture: bool = True) -> int:
        self.open(capture=capture)
        return self.dispatch()

    def until_run(self, number: int, mode: str = "") -> int:
        """Wait until so many agents were started, and the last has its pid file; its pid."""
        until(lambda: self.runs.exists() and len(self.runs.read_text().splitlines()) >= number, self.dir)
        word, pid = self.runs.read_text().splitlines()[number - 1].split()
        assert not mode or word == mode
        until(lambda: self.text("pid") == f"{pid}\n", self.dir)
        self.remember(int(pid))
        return int(pid)

    def remember(self, pid: int) -> None:
        for each in (pid, *procfs.descendants(pid)):
            if start := procfs.start_time(each):
                self.seen.add((each, start))

    def say(self, *words: str) -> None:
        os.write(self._gate, (" ".join(words) + "\n").encode())

    # What is there

    def text(self, name: str) -> str | None:
        try:
            return (self.dir / name).read_text()
        except FileNotFoundError:
            return None

    def has(self, name: str) -> bool:
        return (self.dir / name).exists()

    def manifest(self) -> dict[str, Any]:
        text = (self.dir / self.form).read_text()
        if self.form == "manifest":
            return dict(line.split("=", 1) for line in text.splitlines())
        found: dict[str, Any] = json.loads(text)
        return found

    def notes(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.dir / "midwatch.json").read_text())
        return found

    def modes(self) -> list[str]:
        """How each agent was started."""
        return [line.split()[0] for line in self.runs.read_text().splitlines()]

    def sessions(self) -> list[str]:
        return self.private("list-sessions", "-F", "#{session_name}").splitlines()

    def wrapper_pid(self, agent: int) -> int:
        return int(procfs.stat_fields(agent)[1])

    # Our part

    def monitor(
        self, numbers: TaskNumbers = PATIENT, *, cleanup: bool = False, name: str = ""
    ) -> subprocess.Popen[str]:
        """Start a monitor, and go on once it has looked for the first time."""
        before = self.text("midwatch.json")
        process = self.start(numbers, cleanup=cleanup, name=name)
        until(lambda: self.text("midwatch.json") != before or process.poll() is not None, self.dir)
        return process

    def start(self, numbers: TaskNumbers = PATIENT, *, cleanup: bool = False, name: str = "") -> subprocess.Popen[str]:
        call = [
            *(
                *self.within,
                sys.executable,
                "-m",
                "midwatch",
                "monitor",
                name or self.name,
                "--task-dir",
                str(self.dir),
                "--json",
            ),
            *("-S", str(self.private.socket), *(("--cleanup",) if cleanup else ())),
            *(("--wrapper", self.given) if self.given else ()),
        ]
        told = {
            "MONITOR_BASE_INTERVAL": numbers.base_s, "MONITOR_MAX_INTERVAL": numbers.max_s,
            "MONITOR_DEADLINE": numbers.deadline_s, "MONITOR_GRACE_PERIOD": numbers.grace_s,
            "MONITOR_MAX_RETRIES": numbers.retries, "MONITOR_DISPATCH_WAIT": numbers.dispatch_s,
        }  # fmt: skip
        env = self.env | {name: f"{value:g}" for name, value in told.items()}
        pipe = subprocess.PIPE
        return subprocess.Popen(call, cwd=ROOT, env=env, text=True, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)

    @contextlib.contextmanager
    def watched(self, numbers: TaskNumbers = PATIENT, *, cleanup: bool = False) -> Iterator[subprocess.Popen[str]]:
        """A monitor that has looked for the first time."""
        with self.monitor(numbers, cleanup=cleanup) as process:
            try:
                yield process
            finally:
                process.kill()

    @contextlib.contextmanager
    def beside(self) -> Iterator[subprocess.Popen[str]]:
        """A second monitor, which listens already."""
        with self.start() as process:
            try:
                until(lambda: listening(process) or process.poll() is not None)
                yield process
            finally:
                process.kill()

    def verdict(self, numbers: TaskNumbers = PATIENT, *, cleanup: bool = False, name: str = "") -> dict[str, Any]:
        """What a monitor says in the end."""
        with self.start(numbers, cleanup=cleanup, name=name) as process:
            return outcome(process)

    def end(self) -> None:
        os.close(self._gate)
        for pid, start in self.seen:
            if processes.is_alive(pid, start):
                kill(pid, signal.SIGKILL)


def outcome(process: subprocess.Popen[str], seconds: float = PATIENCE) -> dict[str, Any]:
    """What a monitor said, with its exit code as `code` and what it told on the way as `told`."""
    done = finish(process, seconds)
    assert done.out, done
    return done.json | {"code": done.code, "told": done.err}
