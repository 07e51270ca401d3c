"""What a list of a thousand jobs costs: the first time, again, and when they all live."""

import json
import os
import random
import sys
import time
from collections.abc import Iterator
from statistics import median

from bench.stage import Stage
from bench.table import Row, in_ms, informs, ratio_at_most
from midwatch.jobs import listing_cache

JOBS = 1_000
ROUNDS = 15
GOAL = 6.0
SETTLED = listing_cache.SETTLED + 0.5
LEAVE = "echo compiled; echo '{\"pages\": 12}' > $MIDWATCH_DIR/$MIDWATCH_NAME.result"


def rows(stage: Stage) -> Iterator[Row]:
    ended, first, live = stage.dir("ended"), stage.dir("first"), stage.dir("live")
    for directory in (ended, first):
        stage.jobs(directory, ["job-0000"], "sh", "-c", LEAVE)
        stage.wait_for(directory, "job-0000").wait()
        multiply(directory)
    stage.jobs(live, ["job-0000"], "sleep", "600")
    multiply(live)
    time.sleep(SETTLED)
    calls = {
        "again": [stage.program, "ls", "--dir", ended],
        "json": [stage.program, "ls", "--json", "--dir", ended],
        "first": [stage.program, "ls", "--dir", first],
        "live": [stage.program, "ls", "--dir", live],
        "python -c pass": [sys.executable, "-c", "pass"],
    }
    stage.time(*calls["again"])
    taken: dict[str, list[float]] = {what: [] for what in calls}
    order, chance = list(calls), random.Random(1)
    for _ in range(ROUNDS):
        chance.shuffle(order)
        for what in order:
            taken[what].append(stage.time(*calls[what]))
            if what == "first":
                os.unlink(f"{first}/{listing_cache.FILE}")  # it must have been written: that is part of the first time
    anchor = in_ms("python -c pass", taken["python -c pass"])
    found = {what: median(seconds) * 1000 for what, seconds in taken.items()}
    what = f"midwatch ls ({JOBS:,} ended jobs"
    yield ratio_at_most(f"{what})", found["again"], "ms", GOAL, anchor)._replace(goal=f"<= {GOAL:g} x")
    yield informs(f"{what}, --json)", found["json"], "ms", anchor)
    yield informs(f"{what}, the first time)", found["first"], "ms", anchor)
    yield informs(f"midwatch ls ({JOBS:,} live jobs)", found["live"], "ms", anchor)


def multiply(directory: str) -> None:
    """Give the files of one job a thousand names: what they hold is as real as the first."""
    texts = {}
    for file in os.listdir(directory):
        if file.startswith("job-0000."):
            with open(f"{directory}/{file}", encoding="utf-8") as found:
                texts[file.rpartition(".")[2]] = found.read()
    record = json.loads(texts["json"])
    for number in range(1, JOBS):
        texts["json"] = json.dumps({**record, "name": f"job-{number:04d}"})
        for suffix, text in texts.items():
            with open(f"{directory}/job-{number:04d}.{suffix}", "w", encoding="utf-8") as copy:
                copy.write(text)
