"""Sessions of our own under `midwatch monitor`: from the death of an agent to its line, and what watching one costs."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from statistics import median

from bench.panes import AGENT, SCREEN
from bench.stage import Stage, kill
from bench.table import NO_ANCHOR, Row, at_most, in_ms, informs
from bench.waiting import end_of, line_of, now, runtime_ns, until_waiting
from midwatch.system import procfs

CRASHED = 3
DEATHS, AT_ONCE = 200, 20
POLL = 15.0
"""Seconds between two polls of agentic-process-monitor, half of which a death waits for on average."""
SETTLE, SPAN = 6.0, 20.0
"""Seconds after which a monitor has come to rest, and for which it is then measured."""


def rows(stage: Stage) -> Iterator[Row]:
    place = Sessions(stage)
    yield from deaths(place)
    yield from idle(place)
    place.end()


class Sessions:
    """Stand-ins for Claude Code, in panes of one tmux server."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.place = stage.dir("sessions")
        with open(f"{self.place}/agent.py", "w", encoding="ascii") as file:
            file.write(AGENT)
        with open(f"{self.place}/claude", "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\ncat {SCREEN}\nexec {self.place}/bin/claude {self.place}/agent.py\n")
        os.chmod(f"{self.place}/claude", 0o755)
        os.mkdir(f"{self.place}/bin")
        os.symlink(os.path.realpath(sys.executable), f"{self.place}/bin/claude")
        self.env = {
            "PATH": f"{self.place}:{stage.env['PATH']}", "XDG_STATE_HOME": f"{self.place}/state",
            "MIDWATCH_HOME": f"{self.place}/jobs", "TMUX_TMPDIR": self.place,
        }  # fmt: skip
        self.call("tmux", "-f", os.devnull, "-L", "bench", "new-session", "-d", "-s", "keep", "sleep 3600")

    def call(self, *command: str) -> None:
        subprocess.run(command, env=self.stage.env | self.env, check=True, capture_output=True, timeout=60)

    def spawn(self, name: str) -> int:
        """Start one; the pid of the agent."""
        self.call(self.stage.program, "spawn", name, "--agent", "claude", "--socket", "bench")
        with open(f"{self.place}/jobs/{name}.json", encoding="utf-8") as file:
            text = file.read()
        return int(text.partition('"work": {"pid": ')[2].partition(",")[0])

    def monitor(self, name: str) -> subprocess.Popen[bytes]:
        return self.stage.start(self.stage.program, "monitor", name, "--stale", "1h", more=self.env)

    def end(self) -> None:
        self.call("tmux", "-L", "bench", "kill-server")


def deaths(place: Sessions) -> Iterator[Row]:
    delays: list[float] = []
    lost = 0
    for at in range(0, DEATHS, AT_ONCE):
        names = [f"a{number}" for number in range(at, at + AT_ONCE)]
        agents = {name: place.spawn(name) for name in names}
        monitors = {name: place.monitor(name) for name in names}
        for name in names:
            until_waiting(monitors[name].pid)
        for name, watching in monitors.items():
            began = now()
            kill(agents[name])
            delays.append(line_of(watching) - began)
            lost += end_of(watching)[1] != CRASHED
    anchor = in_ms("agentic-process-monitor's poll", [POLL / 2])
    what = "death of an agent under the shim -> line of `monitor`"
    yield at_most(f"{what}, median", median(delays) * 1000, "ms", 10, anchor, f"{DEATHS} deaths, one at a time")
    yield informs(f"{what}, the slowest", max(delays) * 1000, "ms")
    yield at_most(f"{what}: lost", lost, "", 0)


def idle(place: Sessions) -> Iterator[Row]:
    place.spawn("idle")
    watching = place.monitor("idle")
    time.sleep(SETTLE)
    began, before = now(), used(watching.pid)
    time.sleep(SPAN)
    passed = now() - began
    share = (used(watching.pid) - before) / passed * 100
    kill(watching.pid)
    end_of(watching)
    note = f"for {passed:.0f} s, its control client included"
    yield at_most("`monitor` of one idle session: CPU", share, "% of a core", 0.3, NO_ANCHOR, note)


def used(pid: int) -> float:
    """Processor seconds of a process and of those below it."""
    return sum(map(runtime_ns, [pid, *procfs.descendants(pid)])) / 1e9
