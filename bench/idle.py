"""What idle shims cost, for as long as they last: twenty beside twenty of agentic-process-monitor's wrappers."""

import os
import resource
import subprocess
import time
from collections.abc import Iterator

from bench.anchors import wrap
from bench.stage import Stage, kill, pids_of, reap
from bench.table import Anchor, Figure, Row, at_most, informs, ratio_at_most
from bench.waiting import now, runtime_ns
from bench.wrapper import end_group
from midwatch.system import procfs

COPIES = 20
SPAN = 62.0
"""Seconds measured at least; they pass while something else is measured."""
SETTLE = 2.0
JUDGED = 5


class Idle:
    """Begun when made; ``rows`` ends it, not before SPAN has passed."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.directory = stage.dir("idle")
        self.names = [f"job{number}" for number in range(COPIES)]
        stage.jobs(self.directory, self.names, "sleep", "600")
        self.pids = [pids_of(self.directory, name) for name in self.names]
        short, self.wrappers = self.wrap_all(), self.wrap_all()
        time.sleep(SETTLE)
        self.began, self.before = now(), self.spent()
        self.theirs_before = sum(map(lifetime, short))

    def wrap_all(self) -> list[subprocess.Popen[bytes]]:
        directory = self.stage.dir("idle-wrappers")
        return [
            self.stage.start(*wrap(directory, name, "sleep", "600"), stdout=subprocess.DEVNULL, start_new_session=True)
            for name in self.names
        ]

    def spent(self) -> float:
        """Processor seconds of all shims so far."""
        return sum(runtime_ns(shim) for shim, _ in self.pids) / 1e9

    def rows(self) -> Iterator[Row]:
        time.sleep(max(0.0, self.began + SPAN - now()))
        shims = sum(pss(shim) for shim, _ in self.pids) / COPIES
        wrappers = sum(pss(pid) for wrapper in self.wrappers for pid in group_of(wrapper.pid)) / COPIES
        hours = (now() - self.began) / 3600 * COPIES
        ours = (self.spent() - self.before) / hours
        theirs = (sum(map(lifetime, self.wrappers)) - self.theirs_before) / hours
        note = f"{COPIES} copies each, {hours * 3600 / COPIES:.0f} s"
        wrapper = Anchor("agentic-process-monitor's wrapper", Figure(theirs, "s/h"))
        yield ratio_at_most("idle shim, CPU", ours, "s/h", 1 / 15, wrapper, note)
        judge = self.judged()
        more = "asked twice about work that falls silent: when it is suspected, and at the end of the grace period"
        yield informs("the judge, asked once by a shim, CPU", judge, "ms", note=more)
        yield at_most(
            "shim, PSS of each", shims, "MB", 5, Anchor("agentic-process-monitor's wrapper", Figure(wrappers, "MB"))
        )
        for pid in (pid for both in self.pids for pid in both):
            kill(pid)
            reap(pid)

    def judged(self) -> float:
        """CPU milliseconds of one `midwatch _decide`, which the shim runs when its work has long been silent."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for name in self.names[:JUDGED]:
            self.stage.time(self.stage.program, "_decide", name, "--dir", self.directory)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / JUDGED * 1000


def heart_of(wrapper: int) -> int:
    """The wrapper's subshell that touches the heartbeat."""
    return next(pid for pid in procfs.children(wrapper) if procfs.command_name(pid) == "bash")


def group_of(wrapper: int) -> list[int]:
    """The wrapper without its work: itself, its heart, and what that waits for."""
    heart = heart_of(wrapper)
    return [wrapper, heart, *procfs.children(heart)]


def lifetime(wrapper: subprocess.Popen[bytes]) -> float:
    """End a wrapper; the processor seconds that it and its short-lived children have used, to the microsecond.

    The ticks of /proc are too coarse for it, and cut off what makes no whole tick. Its heart goes first, and bash takes
    over the account of what it waits for.
    """
    heart = heart_of(wrapper.pid)
    kill(heart)
    deadline = now() + 5
    while heart in procfs.children(wrapper.pid) and now() < deadline:
        time.sleep(0.001)
    kill(wrapper.pid)
    _, _, usage = os.wait4(wrapper.pid, 0)
    end_group(wrapper.pid)
    return usage.ru_utime + usage.ru_stime


def pss(pid: int) -> float:
    """Proportional share of memory, in MB; a `sleep` that has just ended has none."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            return int(next(line for line in file if line.startswith("Pss:")).split()[1]) / 1024
    except (OSError, StopIteration):
        return 0.0
