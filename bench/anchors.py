"""What Midwatch is measured against: agentic-process-monitor's wrapper and poll, task-spooler, inotifywait."""

import os
import shutil
import threading
import time

from bench.stage import HERE, Stage, foreign, kill, succeed
from bench.waiting import line_of, now, until_waiting

POLL_INTERVAL = 15.0
PHASES = 12
WRAPPER = f"{HERE}/agentic_process_monitor_wrapper.sh"


def wrap(directory: str, step: str, *command: str) -> list[str]:
    """agentic-process-monitor's wrapper with a command put in."""
    return ["bash", WRAPPER, step, directory, *command]


class ProcessMonitorPolls:
    """agentic-process-monitor's poll loops at their real interval, in the background; moments spread evenly over it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.delays: list[float] = []
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        directory = self.stage.dir("polls")
        names = [f"p{phase}" for phase in range(PHASES)]
        for name in names:
            foreign(directory, name, os.getpid())
        loops = [self.stage.start("bash", f"{HERE}/agentic_process_monitor_poll.sh", name, directory) for name in names]
        began = now()
        written = []
        for phase, name in enumerate(names):
            time.sleep(max(0.0, began + POLL_INTERVAL * (phase + 0.5) / PHASES - now()))
            written.append(succeed(directory, name))
        self.delays = [line_of(loop) - moment for loop, moment in zip(loops, written, strict=True)]

    def collect(self) -> list[float]:
        self.thread.join(4 * POLL_INTERVAL)
        return self.delays


class InotifyWait:
    """`inotifywait -m` on one directory."""

    def __init__(self, stage: Stage) -> None:
        self.there = shutil.which("inotifywait") is not None
        self.directory = stage.dir("inotifywait")
        self.count = 0
        if self.there:
            self.process = stage.start("inotifywait", "-mq", "-e", "moved_to", "--format", "%f", self.directory)
            until_waiting(self.process.pid)

    def sample(self) -> list[float]:
        if not self.there:
            return []
        self.count += 1
        began = succeed(self.directory, f"n{self.count}")
        return [line_of(self.process) - began]

    def end(self) -> None:
        if self.there:
            kill(self.process.pid)
            self.process.wait()


class TaskSpooler:
    """`tsp -nf`: queued and run by its server, waited for in the foreground."""

    def __init__(self, stage: Stage) -> None:
        self.there = shutil.which("tsp") is not None
        self.stage = stage
        stage.env["TS_SOCKET"] = f"{stage.root}/tsp"
        self.sample()  # its server starts with the first job

    def sample(self) -> list[float]:
        return [self.stage.time("tsp", "-nf", "/bin/true")] if self.there else []

    def end(self) -> None:
        if self.there:
            self.stage.time("tsp", "-K")
