"""Reading one screen: regions, rules of every source, one turn."""

import random
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from time import thread_time

from bench.stage import Stage
from bench.table import Anchor, Figure, Row, at_most, informs
from midwatch.agents import catalog, evidence
from midwatch.agents.rules import fuse_sources
from midwatch.core.pane_model import Observation
from midwatch.replay import golden_runner
from midwatch.replay.codec import screen_case

SCREENS = Path(__file__).parents[1] / "tests" / "goldens" / "agents" / "screens"
ROUNDS = 5
GOAL = 1.0


def rows(_stage: Stage) -> Iterator[Row]:
    known = catalog.Detectors()
    cases: list[Observation] = []
    for folder in map(Path, golden_runner.find_case_folders(str(SCREENS))):
        agent = folder.parent.name.partition("-")[0]
        facts = folder / "facts.json"
        cases.append(
            screen_case.read_observation(agent, (folder / "screen.txt").read_text(), facts.read_text(), str(facts))
        )
        known[agent].rules  # noqa: B018  # read now, not while it is measured
    taken: list[float] = []
    plain: list[float] = []
    chance = random.Random(1)
    for _ in range(ROUNDS):
        chance.shuffle(cases)
        for seen in cases:
            began = thread_time()
            said, there = evidence.read_sources(known[seen.agent], seen)
            fuse_sources(said, there)
            taken.append(thread_time() - began)
            began = thread_time()
            "\n".join(row.rstrip() for row in seen.rows).count("esc to interrupt")
            plain.append(thread_time() - began)
    anchor = Anchor("joining its rows and one search for a word", Figure(median(plain) * 1000, "ms"))
    note = f"CPU time; {len(cases)} screens of the goldens, {ROUNDS} x each in changing order"
    yield at_most("a screen read: median", median(taken) * 1000, "ms", GOAL, anchor, note)
    yield at_most("a screen read: 99 of 100", quantiles(taken, n=100)[98] * 1000, "ms", GOAL, anchor)
    yield informs("a screen read: the slowest", max(taken) * 1000, "ms", anchor)
