"""One look at every pane of a tmux server, beside shell monitors that start a tmux client for each question."""

import os
import resource
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from statistics import median

from bench.stage import HERE, Stage, reap
from bench.table import Anchor, Figure, Row, at_most, in_ms, informs, ratio_at_most
from bench.waiting import PATIENCE, end_of, now, runtime_ns
from midwatch.agents import catalog
from midwatch.core.pane_model import Pane
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.tmux.control_client import ControlClient
from midwatch.tmux.server import ServerSnapshot, TmuxObserver

CROWDS = {10: (10, 1 / 20, 1 / 75), 100: (3, 1 / 60, 1 / 100), 500: (2, 1 / 60, 1 / 100)}
"""Panes: how often client_per_question.sh runs, and the goals: with a client for each look, and in control mode."""
OURS = 5
"""Looks for each run of client_per_question.sh, half of them before it and half after it."""
AT_ONCE = 40
EACH = 100
"""Panes that one client should do for."""
SAMPLE = 100
"""Sessions that client_per_question.sh asks about; each more costs the same, and all would take half a minute."""
INTERVAL, LOOKS = 2.0, 10
PROCESSES = 3
"""Of each agent."""
SCREEN = f"{HERE}/../tests/goldens/agents/screens/claude/narrow-idle/screen.txt"
PROMPT = "printf 'a prompt\\n> '; exec cat"
AGENT = """
import subprocess, threading, time
for _ in range(10):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
subprocess.run(["sleep", "600"])
"""


def rows(stage: Stage) -> Iterator[Row]:
    if shutil.which("tmux") is None:
        yield Row("looks at panes: tmux is not installed", None, goal="measured")
        return
    for count in CROWDS:
        yield from beside_client_per_question(stage, count)
    yield from resident(stage, 10)


def beside_client_per_question(stage: Stage, count: int) -> Iterator[Row]:
    rounds, goal, goal_control = CROWDS[count]
    server = Server(stage, count, PROMPT)
    until(lambda: all(map(any, server.observe(TmuxObserver(server.arguments)).screens.values())), "panes stay empty")
    watch = TmuxObserver(server.arguments)
    ids = [pane.id for pane in server.observe(watch).panes]
    control = server.attach(watch)
    ours: list[float] = []
    first: list[float] = []
    through: list[float] = []
    asked: list[float] = []
    forks = forks_control = 0
    for _ in range(rounds):
        for at in range(OURS + 1):
            if at == OURS // 2:
                some = server.names[:SAMPLE]
                took = stage.time("bash", f"{HERE}/client_per_question.sh", server.socket, *some)
                asked.append(took * count / len(some))
                continue
            began = now()
            forks = max(forks, server.observe(TmuxObserver(server.arguments), known=ids).forks)
            ours.append(now() - began)
            began = now()
            server.observe(TmuxObserver(server.arguments))
            first.append(now() - began)
            server.observe(
                TmuxObserver(server.arguments, control=control)
            )  # till the server is done with the clients before it
            began = now()
            forks_control += server.observe(TmuxObserver(server.arguments, control=control), known=ids).forks
            through.append(now() - began)
    watch.close()
    server.end()
    anchor = in_ms("one client per question", asked)
    note = f"median of {len(ours)}, every screen captured, panes known by id"
    if count > SAMPLE:
        note += f"; one client per question for {SAMPLE} of them, {len(asked)} x, and multiplied"
    yield ratio_at_most(f"{count} panes: one look", median(ours) * 1000, "ms", goal, anchor, note)
    yield informs(f"{count} panes: the very first look", median(first) * 1000, "ms", anchor)
    most, all_forks = max(1, count // EACH), Anchor("one client per question", Figure(3 * count))
    yield at_most(f"{count} panes: clients started", forks, "", most, all_forks)
    what = f"{count} panes: one look through a control client"
    note = f"median of {len(through)}, in the same run, every screen captured"
    yield ratio_at_most(what, median(through) * 1000, "ms", goal_control, anchor, note)
    yield at_most(f"{what}: forks", forks_control / len(through), "", 0, all_forks)


def resident(stage: Stage, count: int) -> Iterator[Row]:
    """What it costs to judge again and again agents that do nothing, with a client for each look."""
    server, watch = agents(stage, count)
    began, before, theirs = now(), spent(), runtime_ns(server.pid)
    for number in range(1, LOOKS + 1):
        if any(seen.verdict.turn != "idle" for seen in watch.observe().seen):
            raise RuntimeError("an idle agent was not read as idle")
        time.sleep(max(0.0, began + number * INTERVAL - now()))
    passed = now() - began
    share = (spent() - before) / passed * 100
    served = (runtime_ns(server.pid) - theirs) / 1e9 / passed * 100
    watch.close()
    server.end()
    what = f"{count} quiet agents, resident"
    note = f"every {INTERVAL:g} s for {passed:.0f} s: clients, {PROCESSES * count} processes, files, {count} verdicts"
    yield at_most(f"{what}: CPU", share, "% of a core", 0.5, note=note)
    yield informs(f"{what}: CPU of the tmux server", served, "% of a core")


def agents(stage: Stage, count: int) -> tuple["Server", PaneObserver]:
    """Agents that do nothing, a shell, an agent with threads and a tool in each pane, and one who has seen them all."""
    place = stage.dir("agents")
    with open(f"{place}/agent.py", "w", encoding="ascii") as file:
        file.write(AGENT)
    os.symlink(os.path.realpath(sys.executable), f"{place}/claude")
    server = Server(stage, count, f"cat {SCREEN}; {place}/claude {place}/agent.py; :")
    watch = PaneObserver(catalog.load_all(), f"{place}/no-hooks", server.arguments)
    grown = lambda: sum(len(seen.sighting.tasks) for seen in watch.observe().seen) == PROCESSES * count  # noqa: E731
    until(grown, "the agents do not start")
    return server, watch


def spent() -> float:
    """Processor seconds that we and the clients that we have waited for have used so far."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def until(condition: Callable[[], bool], otherwise: str) -> None:
    deadline = now() + PATIENCE
    while not condition():
        if now() > deadline:
            raise RuntimeError(otherwise)


def everything(_: Pane) -> bool:
    return True


class Server:
    """A server of our own with that many sessions, each of one pane."""

    def __init__(self, stage: Stage, count: int, command: str) -> None:
        self.stage = stage
        self.socket = f"{stage.dir('tmux')}/s"
        self.arguments = ("-S", self.socket)
        self.names = [f"session-{number}" for number in range(count)]
        for at in range(0, count, AT_ONCE):
            asked = [["new-session", "-d", "-s", name, command] for name in self.names[at : at + AT_ONCE]]
            words = [word for one in asked for word in (*one, ";")][:-1]
            stage.time("tmux", "-f", os.devnull, *self.arguments, *words)
        self.pid = int(stage.start("tmux", *self.arguments, "display-message", "-p", "#{pid}").communicate()[0])

    def observe(self, tmux: TmuxObserver, known: list[str] | None = None) -> ServerSnapshot:
        """A look that saw everything; another is no measure."""
        tmux.limit = PATIENCE
        look = tmux.observe(everything, known=known or ())
        if look.trouble or len(look.screens) != len(self.names):
            raise RuntimeError(look.trouble or f"{len(look.screens)} of {len(self.names)} screens were seen")
        return look

    def attach(self, tmux: TmuxObserver) -> ControlClient:
        """A client in control mode that can be asked."""
        control = tmux.attach(self.observe(tmux).panes[0])
        until(lambda: self.observe(tmux).forks == 0, "the client does not attach")
        return control

    def end(self) -> None:
        end_of(self.stage.start("tmux", *self.arguments, "kill-server"))
        reap(self.pid)
