"""What a watchdog says in a night, beside a prod at every tick; and what one of its rounds costs."""

import shutil
from collections.abc import Iterator
from statistics import mean, median

from bench.panes import Server, until
from bench.stage import Stage
from bench.table import Anchor, Figure, Row, at_most, in_ms, informs, percentile, ratio_at_most
from bench.waiting import now
from midwatch.agents import catalog
from midwatch.config.model import Settings
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.swarm.controller_session import ControllerSession
from midwatch.swarm.model import WakeRules
from midwatch.swarm.watchdog import Watchdog, WatchdogRequest
from midwatch.trackers import builtin
from tests.lab.night import END, TICK, Night

NIGHTS, ROUNDS, AGENTS = 300, 15, 10
GOAL = 1 / 5
COST = 25.0
"""Milliseconds for a round with ten agents, every nine seconds."""


def rows(stage: Stage) -> Iterator[Row]:
    sent = [_messages(seed) for seed in range(NIGHTS)]
    prods = Anchor("a prod at every tick", Figure(END / TICK, "messages"))
    note = f"eight hours, six workers, mock clock; mean of {NIGHTS} nights, the worst {max(sent)}"
    yield ratio_at_most("messages of a watchdog in a night", mean(sent), "messages", GOAL, prods, note)
    yield informs("messages in a night, 95 of 100 nights have at most", percentile(sent, 95), "messages", prods)
    if shutil.which("tmux") is None:
        yield Row("a round of the watchdog: tmux is not installed", None, goal="measured")
        return
    yield _round(stage)


def _messages(seed: int) -> int:
    night = Night(seed)
    dog = Watchdog(
        WatchdogRequest("s", "/p", "controller", "", (), WakeRules(interval=float(TICK))), night, lambda _: None
    )
    due = 0
    while night.time < END:
        night.step()
        tick = night.time >= due
        due = night.time + TICK if tick else due
        dog.round(tick=tick)
    return len(night.messages)


def _round(stage: Stage) -> Row:
    place = stage.dir("watchdog")
    shutil.copy(shutil.which("sleep") or "sleep", f"{place}/claude")
    server = Server(stage, AGENTS, f"exec {place}/claude 600")
    for name in server.names[1:]:
        stage.time("tmux", *server.arguments, "move-window", "-d", "-s", f"={name}:", "-t", f"={server.names[0]}:")
    panes = PaneObserver(catalog.load_all(), place, server.arguments)
    asked = WatchdogRequest(server.names[0], place, "controller", "", (), WakeRules(), server.arguments)
    tracker = builtin.BuiltinTracker(f"{place}/{builtin.NAME}")
    world = ControllerSession(asked, Settings(), tracker, panes, lambda _: None, lambda: False)
    dog = Watchdog(asked, world, lambda _: None)
    ours, theirs = [], []
    try:
        until(lambda: len(world.observe().workers) == AGENTS, "the agents do not start")
        dog.round(tick=True)
        for _ in range(ROUNDS):
            theirs.append(stage.time("tmux", *server.arguments, "list-panes", "-a"))
            began = now()
            dog.round(tick=False)
            ours.append(now() - began)
    finally:
        panes.close()
        server.end()
    note = f"{AGENTS} agents in as many windows, none leads; median of {ROUNDS}"
    return at_most("a round of the watchdog", median(ours) * 1000, "ms", COST, in_ms("tmux list-panes", theirs), note)
