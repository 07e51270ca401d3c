"""What one call costs, beside an interpreter that does nothing."""

import random
import sys
from collections.abc import Iterator
from statistics import median

from bench.stage import Stage
from bench.supervisors import Supervisord
from bench.table import Row, in_ms, informs, ratio_at_most

ROUNDS = 30
GOALS = {
    "midwatch beat": 2.0,
    "midwatch ls (5 jobs)": 3.0,
    "midwatch wait (already finished)": 3.0,
    "midwatch --help": 4.0,
    "midwatch run --help": 4.0,
}


def rows(stage: Stage) -> Iterator[Row]:
    directory = stage.dir("startup")
    stage.jobs(directory, ["done1", "done2", "done3"], "true")
    stage.jobs(directory, ["live1", "live2"], "sleep", "600")
    stage.wait_for(directory, "done1", "done2", "done3").wait()
    supervisord = Supervisord(stage)
    verbs = (
        ["beat", "--dir", directory, "--name", "live1", "--note", "epoch 3"],
        ["ls", "--dir", directory],
        ["wait", "done1", "--dir", directory, "--json"],
        ["--help"],
        ["run", "--help"],
    )
    calls = {what: [stage.program, *arguments] for what, arguments in zip(GOALS, verbs, strict=True)}
    calls["python -c pass"] = [sys.executable, "-c", "pass"]
    if supervisord.there:
        calls["supervisorctl status"] = supervisord.status_command()
    taken: dict[str, list[float]] = {what: [] for what in calls}
    order, chance = list(calls), random.Random(1)
    for _ in range(ROUNDS):
        chance.shuffle(order)  # what runs after a heavy one pays for it; no call may always be that one
        for what in order:
            taken[what].append(stage.time(*calls[what]))
    supervisord.end()
    anchor = in_ms("python -c pass", taken["python -c pass"])
    note = (
        f"{ROUNDS} rounds, all calls in each; python is {sys.executable.rsplit('/', 3)[-3]}'s {sys.version.split()[0]}"
    )
    for what, goal in GOALS.items():
        yield ratio_at_most(what, median(taken[what]) * 1000, "ms", goal, anchor, note)._replace(goal=f"<= {goal:g} x")
        note = ""
    if supervisord.there:
        yield informs(
            "supervisorctl status (for comparison)", median(taken["supervisorctl status"]) * 1000, "ms", anchor
        )
    else:
        yield Row("supervisorctl status (for comparison): not installed", None, anchor)
