"""One watcher over ten thousand jobs that all beat; nothing may be missed, even when the kernel's queue overflows."""

import json
import os
import queue
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from statistics import median

from bench.stage import Stage, foreign, kill, succeed
from bench.table import Anchor, Figure, Row, at_most, informs, percentile
from bench.waiting import PATIENCE, lines_of, now, runtime_ns, until_waiting
from midwatch.system import procfs

JOBS = 10_000
BEATS = 1_000
"""Heartbeats per second, over all jobs."""
SPAN = 66.0
"""Seconds of beating: long enough for the look that a watcher of foreign jobs takes at each once a minute."""
FIRST = 20.0
SAID = 100
START_LIMIT = 90.0
NAIVE = """
import os, sys, time
while True:
    said, ages = set(), {}
    for entry in os.scandir(sys.argv[1]):
        name, _, suffix = entry.name.rpartition(".")
        if suffix == "status":
            said.add(name)
        elif suffix == "heartbeat":
            ages[name] = time.time() - entry.stat().st_mtime
    late = [name for name, age in ages.items() if age > 60 and name not in said]
    print(time.process_time(), flush=True)
    time.sleep(15)
"""


def rows(stage: Stage) -> Iterator[Row]:
    many = Many(stage)
    starting = many.start()
    written = many.beat()
    found = many.heard(written)
    rss, peak = many.memory()
    naive = many.naive_share()
    delays = [found[name] - moment for name, moment in written.items() if name in found]

    what = f"{JOBS:,} jobs, {BEATS:,} beats/s: "
    note = f"{SPAN:.0f} s; starting took {starting:.1f} s of CPU, once"
    yield at_most(f"{what}CPU", many.share, "% of a core", 1, Anchor("naive scan each 15 s", Figure(naive, "%")), note)
    note = f"without the look at every job each minute, which the {SPAN:.0f} s hold"
    yield informs(f"{what}CPU of the first {FIRST:.0f} s", many.share_at_first, "%", note=note)
    yield at_most(f"{what}RSS", rss, "MB", 40, note=f"peak {peak:.0f} MB")
    yield all_of(f"{what}statuses noticed", len(delays), len(written))
    if delays:
        note = f"p99 {percentile(delays, 99) * 1000:.1f} ms"
        yield informs(f"{what}status -> line, median", median(delays) * 1000, "ms", note=note)
    yield from many.overflow()
    many.end()


def all_of(what: str, found: int, wanted: int, note: str = "") -> Row:
    return Row(what, Figure(found, f"of {wanted}"), goal="all", met=found == wanted, note=note)


class Many:
    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.chance = random.Random(1)
        self.directory = stage.dir("many")
        self.names = [f"j{number:05d}" for number in range(JOBS)]
        self.holder = stage.start("sleep", "600")
        for name in self.names:
            foreign(self.directory, name, self.holder.pid)
        self.to_say = self.chance.sample(self.names, 2 * SAID)
        self.share = self.share_at_first = 0.0

    def start(self) -> float:
        """Start the watcher and its anchor. Returns the CPU seconds until it waits."""
        self.watcher = self.stage.wait_for(self.directory, *self.names)
        self.lines = lines_of(self.watcher)
        until_waiting(self.watcher.pid, START_LIMIT)
        self.naive = self.stage.start(sys.executable, "-c", NAIVE, self.directory, stdout=subprocess.PIPE)
        self.scans = lines_of(self.naive)
        return runtime_ns(self.watcher.pid) / 1e9

    def beat(self) -> dict[str, float]:
        """Touch heartbeats and now and then say a status. Returns when each was said."""
        moments = sorted(self.chance.uniform(0.5, SPAN - 1) for _ in range(SAID))
        written: dict[str, float] = {}
        began, before, beats = now(), runtime_ns(self.watcher.pid), 0
        while (passed := now() - began) < SPAN:
            while beats < passed * BEATS:
                touch(f"{self.directory}/{self.names[beats * 7919 % JOBS]}.heartbeat")
                beats += 1
            while len(written) < SAID and moments[len(written)] <= passed:
                name = self.to_say[len(written)]
                written[name] = succeed(self.directory, name)
            if passed < FIRST:
                self.share_at_first = (runtime_ns(self.watcher.pid) - before) / 1e7 / max(passed, 1.0)
            time.sleep(0.004)
        self.share = (runtime_ns(self.watcher.pid) - before) / 1e7 / (now() - began)
        return written

    def heard(self, written: dict[str, float], limit: float = 5.0) -> dict[str, float]:
        """When the watcher told of each of these names, as far as it did."""
        found: dict[str, float] = {}
        deadline = now() + limit
        while len(found) < len(written) and now() < deadline:
            try:
                moment, line = self.lines.came.get(timeout=0.5)
            except queue.Empty:
                continue
            if (name := json.loads(line)["name"]) in written:
                found[name] = moment
        return found

    def memory(self) -> tuple[float, float]:
        """Resident memory of the watcher in MB: now, and at its highest."""
        with open(f"/proc/{self.watcher.pid}/status", encoding="ascii") as file:
            sizes = dict(line.split(":", 1) for line in file)
        return int(sizes["VmRSS"].split()[0]) / 1024, int(sizes["VmHWM"].split()[0]) / 1024

    def naive_share(self) -> float:
        """Percent of a core that the naive scan takes, over whole intervals."""
        spent = []
        while not self.scans.came.empty():
            spent.append(float(self.scans.came.get()[1]))
        kill(self.naive.pid)
        return (spent[-1] - spent[0]) / (len(spent) - 1) / 15 * 100

    def overflow(self) -> Iterator[Row]:
        """Stop the watcher, bury its events under others, and say more statuses meanwhile."""
        length = int(procfs.read_text("/proc/sys/fs/inotify/max_queued_events"))
        kill(self.watcher.pid, signal.SIGSTOP)
        while procfs.stat_fields(self.watcher.pid)[0] != "T":
            time.sleep(0.001)
        written = {name: succeed(self.directory, name) for name in self.to_say[SAID : SAID + SAID // 2]}
        for _ in range(length):
            os.close(os.open(f"{self.directory}/noise", os.O_CREAT | os.O_WRONLY, 0o600))
            os.unlink(f"{self.directory}/noise")
        written |= {name: succeed(self.directory, name) for name in self.to_say[SAID + SAID // 2 :]}
        began = now()
        kill(self.watcher.pid, signal.SIGCONT)
        found = self.heard(written, PATIENCE)
        last = max(found.values(), default=began) - began
        note = f"{2 * length:,} events in a queue of {length:,}; the last was told {last:.2f} s after it went on"
        yield all_of(f"{JOBS:,} jobs, queue overflowed: statuses noticed", len(found), len(written), note)

    def end(self) -> None:
        for process in (self.watcher, self.holder):
            kill(process.pid)
            process.wait()


def touch(path: str) -> None:
    """As the `touch` of agentic-process-monitor's wrapper does it: open, set the time, close."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    os.utime(fd)
    os.close(fd)
