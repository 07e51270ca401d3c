"""From the death of one of a hundred watched processes to its verdict."""

import subprocess
from collections.abc import Callable, Iterator
from statistics import median

from bench.stage import Stage, foreign, kill, pids_of, reap
from bench.supervisors import Supervisord
from bench.table import Row, at_most, in_ms, informs
from bench.waiting import PATIENCE, line_of, now, until_waiting

WATCHED = 100
SAMPLES = 40
REST = 0.3
"""Seconds that a watcher has to come to rest between two deaths."""
ROUNDS = 4
"""Deaths that supervisord is asked to notice; ours happen while it is waited for. So many for each kind of ours."""


def rows(stage: Stage) -> Iterator[Row]:
    names = [f"j{number}" for number in range(WATCHED)]
    supervisord = Supervisord(stage)
    told = []
    for make in (Foreign, ShimGoneBefore, Ours):
        watch = make(stage, names)
        for turn in range(ROUNDS):
            supervisord.kill_its_work()
            for name in names[turn::ROUNDS][: SAMPLES // ROUNDS]:
                watch.sample(name)
            supervisord.notices()
        watch.end()
        told.append(watch)
    supervisord.end()
    anchor = in_ms("supervisord EXITED", supervisord.told)
    notes = [
        f"{SAMPLES} of {WATCHED} watched by one `wait`; supervisord: {len(supervisord.told)} deaths of one program"
    ]
    for watch in told:
        if watch.restless:
            notes.append(f"its watcher did not come to rest {watch.restless} times; it spins")
        yield at_most(watch.what, median(watch.delays) * 1000, "ms", 2, anchor, "; ".join(notes))
        notes = []
    if supervisord.there:
        yield informs("supervisord, until its own log says it", median(supervisord.logged) * 1000, "ms", anchor)


class Foreign:
    """Processes that only a pid file names."""

    what = "death of 1 of 100 pids -> verdict"

    def __init__(self, stage: Stage, names: list[str]) -> None:
        directory = stage.dir("pids")
        self.sleeps = {name: stage.start("sleep", "600") for name in names}
        for name, sleep in self.sleeps.items():
            foreign(directory, name, sleep.pid)
        self.watch(stage.wait_for(directory, *names))

    def watch(self, wait: subprocess.Popen[bytes]) -> None:
        self.wait = wait
        self.delays: list[float] = []
        self.restless = 0

    def rest(self) -> None:
        """Let the watcher come to rest. One that spins is measured all the same, and it is said."""
        try:
            until_waiting(self.wait.pid, REST if self.delays else PATIENCE)
        except RuntimeError:
            self.restless += 1

    def sample(self, name: str) -> None:
        self.rest()
        sleep = self.sleeps.pop(name)
        self.timed(sleep.kill)
        sleep.wait()

    def timed(self, last_blow: Callable[[], None]) -> None:
        began = now()
        last_blow()
        self.delays.append(line_of(self.wait) - began)

    def end(self) -> None:
        self.wait.kill()
        for sleep in self.sleeps.values():
            sleep.kill()
            sleep.wait()


class Ours(Foreign):
    """Our own jobs, shim and work killed: nobody is left to write a status."""

    what = "death of 1 of 100 works, shim with it"

    def __init__(self, stage: Stage, names: list[str]) -> None:
        directory = stage.dir("works")
        stage.jobs(directory, names, "sleep", "600")
        self.pids = {name: pids_of(directory, name) for name in names}
        self.watch(stage.wait_for(directory, *names))

    def sample(self, name: str) -> None:
        shim, work = self.pids.pop(name)  # reaped below: not ours to signal any more
        self.rest()
        kill(shim)
        self.between()
        self.timed(lambda: kill(work))
        reap(shim)
        reap(work)

    def between(self) -> None:
        """Nothing comes between the two blows."""

    def end(self) -> None:
        self.wait.kill()
        for pid in (pid for both in self.pids.values() for pid in both):
            kill(pid)
            reap(pid)


class ShimGoneBefore(Ours):
    """Our own jobs, whose work had been going on without its shim."""

    what = "death of 1 of 100 works, shim gone before"

    def between(self) -> None:
        self.rest()
