"""From the rename of a status file to the line of a waiting `midwatch wait`."""

from collections.abc import Iterator
from statistics import median

from bench.anchors import InotifyWait, ProcessMonitorPolls
from bench.stage import Stage, foreign, kill, pids_of, succeed
from bench.table import Anchor, Figure, Row, at_most, in_ms, informs, percentile, ratio_at_most
from bench.waiting import line_of, now, until_waiting

SAMPLES = 200
REAL_ENDS = 20
AHEAD = 10
"""Waits that are started before the first of them is needed, each in a directory of its own."""


def rows(stage: Stage) -> Iterator[Row]:
    polls = ProcessMonitorPolls(stage)
    inotifywait = InotifyWait(stage)
    ours: list[float] = []
    theirs: list[float] = []
    holder = stage.start("sleep", "600")
    for _ in range(SAMPLES // AHEAD):
        directories = [stage.dir("notice") for _ in range(AHEAD)]
        for directory in directories:
            foreign(directory, "job", holder.pid)
        waits = [stage.wait_for(directory, "job") for directory in directories]
        for wait in waits:
            until_waiting(wait.pid)
        for directory, wait in zip(directories, waits, strict=True):
            began = succeed(directory, "job")
            ours.append(line_of(wait) - began)
            wait.wait()
            theirs += inotifywait.sample()
    inotifywait.end()
    real = real_ends(stage)
    delays = polls.collect()

    what, n = "status rename -> line of `wait`", f"{SAMPLES} waits, each a process of its own"
    yield at_most(f"{what}, median", median(ours) * 1000, "ms", 2, in_ms("inotifywait -m", theirs), n)
    p99 = Anchor("inotifywait -m", Figure(percentile(theirs, 99) * 1000, "ms") if theirs else None)
    yield at_most(f"{what}, p99", percentile(ours, 99) * 1000, "ms", 10, p99)
    note = f"{len(delays)} real bash loops with `sleep 15`, statuses spread evenly over the interval; median"
    poll = in_ms("agentic-process-monitor's poll, 15 s", delays, "the loops did not end in time")
    yield ratio_at_most(f"{what}, beside agentic-process-monitor", median(ours) * 1000, "ms", 1 / 3000, poll, note)
    yield informs("work killed -> shim -> line of `wait`", median(real) * 1000, "ms", poll, f"{REAL_ENDS} real jobs")


def real_ends(stage: Stage) -> list[float]:
    """The whole way: work dies, its shim writes record and status, the waiting program prints."""
    delays = []
    for _ in range(REAL_ENDS // AHEAD):
        directories = [stage.dir("real") for _ in range(AHEAD)]
        for directory in directories:
            stage.jobs(directory, ["job"], "sleep", "600")
        waits = [stage.wait_for(directory, "job") for directory in directories]
        for directory, wait in zip(directories, waits, strict=True):
            until_waiting(wait.pid)
            began = now()
            kill(pids_of(directory, "job")[1])
            delays.append(line_of(wait) - began)
            wait.wait()
    return delays
