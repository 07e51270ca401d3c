"""How real agents end in panes that others opened: left on purpose or killed, with the kernel's word and without it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.agents import catalog
from midwatch.agents.catalog import Detectors
from midwatch.core.policy import PATIENT
from midwatch.core.verdict import Verdict
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.replayer import SessionReplayer
from tests.agents.conftest import each
from tests.agents.test_smoke import SLOW
from tests.lab.lab import Lab
from tests.lab.pane import AgentPane
from tests.lab.scenes.opencode_common import steady

QUIT = {"claude": "/exit", "codex": "/quit", "opencode": "/exit", "gemini": "/quit", "qwen": "/quit"}
PRESSES = 5
"""As often as a person presses Ctrl-C before he wonders."""
MINUTE, STILL = 60.0, 1.5

End = Callable[[AgentPane, "Watcher"], None]
Watch = Callable[[AgentPane], "Watcher"]


class Watcher:
    """Looks at one pane, as a watchdog does; and judges the same looks as if no kernel told how processes end."""

    def __init__(self, pane: AgentPane, spool: Path) -> None:
        self.pane = pane
        self.panes = PaneObserver(catalog.load_all(), str(spool), tuple(pane.server_args))
        self._blind = SessionReplayer(PATIENT, Detectors())
        self.blind = ""

    def observe(self) -> Verdict:
        (seen,) = self.panes.observe(self.pane.pane_id).seen
        told = tuple(report for report in seen.sighting.reports if report.source != "process")
        self.blind = self._blind.judge(seen.sighting._replace(reports=told)).state
        return seen.verdict

    @property
    def pid(self) -> int:
        return self.panes.known[self.pane.pane_id].process[0]

    def gone(self) -> bool:
        return not os.path.exists(f"/proc/{self.pid}")

    def ended(self) -> tuple[str, str, str]:
        """State and cause once the shell is back, below all that the agent printed; the state without the kernel."""
        self.pane.until(lambda pane: self.gone() and prompt(pane), SLOW, what="the shell's prompt")
        self.pane.until(lambda _: self.observe().settled, what="that it is settled")
        found = self.observe()
        assert found.final
        return found.state, found.cause, self.blind


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    with contextlib.ExitStack() as begun:

        def begin(pane: AgentPane) -> Watcher:
            watcher = Watcher(pane, tmp_path)
            begun.callback(watcher.panes.close)
            watcher.observe()
            return watcher

        yield begin


def prompt(pane: AgentPane) -> bool:
    facts = pane.facts()
    row = pane.screen().split("\n")[int(facts["cursor_y"])]
    return facts["pane_current_command"] == "bash" and "bash-" in row[: int(facts["cursor_x"])]


def finished(pane: AgentPane, watcher: Watcher) -> None:
    pane.type("speak [[text Pearls before swine.]]")
    pane.until("Pearls before swine.(?!\\]\\])", SLOW)
    pane.until(lambda _: watcher.observe().turn == "idle", SLOW, what="the end of its turn")


def at_work(pane: AgentPane, watcher: Watcher) -> None:
    pane.type("go [[wait 120]]")
    pane.until_model("began", SLOW, main=True)
    pane.until(lambda _: watcher.observe().turn == "working", SLOW, what="a turn")


def typed(pane: AgentPane, _: Watcher) -> None:
    word = QUIT[pane.agent.partition("-")[0]]
    pane.type(word, enter=False)
    steady(pane)  # the list of commands has come to this one
    pane.keys("Enter")


def pressed(key: str) -> End:
    def press(pane: AgentPane, watcher: Watcher) -> None:
        """Again when that is asked for, or when nothing came of it: one that is about to end is not interrupted."""
        for _ in range(PRESSES):
            if not watcher.gone() and pane.facts()["pane_current_command"] != "bash":  # else it would end the shell
                asked = is_asked(pane)
                pane.keys(key)
                heard(pane, watcher, asked=asked)

    return press


def is_asked(pane: AgentPane) -> bool:
    return bool(re.search(r"(?i)again to (?:exit|quit)", pane.screen()))


def heard(pane: AgentPane, watcher: Watcher, *, asked: bool) -> None:
    """Wait until it asks for the same key once more, which it does for a second only; or until nothing moves."""
    last, since = "", time.monotonic()

    def still(seen: AgentPane) -> bool:
        nonlocal last, since
        now = seen.screen()
        if now != last:
            last, since = now, time.monotonic()
        return watcher.gone() or (not asked and is_asked(seen)) or time.monotonic() - since > STILL

    pane.until(still, SLOW, what="what the key does")


def killed(number: int) -> End:
    """With its launcher: who kills only that leaves the agent itself alive."""
    return lambda _, watcher: os.killpg(os.getpgid(watcher.pid), number)


WAYS: dict[str, tuple[Callable[[AgentPane, Watcher], None], End, tuple[str, str, str]]] = {
    "typed": (finished, typed, ("stopped", "exited", "stopped")),
    "Ctrl-C": (finished, pressed("C-c"), ("stopped", "exited|interrupt", "stopped")),
    "Ctrl-D": (finished, pressed("C-d"), ("stopped", "exited", "stopped")),
    "Ctrl-C at work": (at_work, pressed("C-c"), ("stopped", "left-mid-turn|interrupt", "stopped")),
    "SIGKILL": (finished, killed(signal.SIGKILL), ("crashed", "signal", "crashed|unknown")),
    "SIGKILL at work": (at_work, killed(signal.SIGKILL), ("crashed", "signal", "crashed|unknown")),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("agent", "age"), [given for given in each(previous=False) if given.id != "codex-nodaemon"])
def test_a_deliberate_exit_is_stopped_and_a_kill_is_a_crash(
    lab: Lab, watch: Watch, agent: str, age: str, way: str
) -> None:
    assert age == "current"
    if way == "Ctrl-C at work" and agent == "codex":
        agent = "codex-nodaemon"  # with its daemon it asks what is to become of the task
    before, end, (state, cause, blind) = WAYS[way]
    pane = lab.start(agent)
    watcher = watch(pane)
    before(pane, watcher)
    end(pane, watcher)
    found = watcher.ended()
    assert found[0] == state, (found, pane.screen())
    assert re.fullmatch(cause, found[1]), (found, pane.screen())
    assert re.fullmatch(blind, found[2]), (found, pane.screen())


@pytest.mark.parametrize(("agent", "age"), [given for given in each(previous=False) if given.id in ("claude", "qwen")])
def test_an_agent_that_was_left_before_its_first_turn_says_nothing(
    lab: Lab, watch: Watch, agent: str, age: str
) -> None:
    """Only the kernel knows; without its word it is `unknown`, and no crash."""
    assert age == "current"
    pane = lab.start(agent)
    watcher = watch(pane)
    typed(pane, watcher)
    assert watcher.ended() == ("stopped", "exited", "unknown")


@pytest.mark.claude
@pytest.mark.previous
@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_a_goodbye_below_the_input_box_counts_and_is_remembered_though_the_screen_is_cleared(
    lab: Lab, watch: Watch, agent: str
) -> None:
    """The older release draws in the shell's own screen: what it showed stands above its last words."""
    pane = lab.start(agent, version="previous")
    watcher = watch(pane)
    finished(pane, watcher)
    typed(pane, watcher)
    assert watcher.ended() == ("stopped", "exited", "stopped")
    assert "❯ " in pane.screen()  # noqa: RUF001
    pane.type("clear")
    pane.until("--resume", gone=True)
    assert (watcher.observe().state, watcher.blind) == ("stopped", "stopped")


@pytest.mark.claude
@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_a_monitor_of_the_pane_says_stopped(lab: Lab, watch: Watch, agent: str) -> None:
    pane = lab.start(agent)
    call = [sys.executable, "-m", "midwatch", "monitor", pane.pane_id, *pane.server_args, "--json"]
    home = {"HOME": str(lab.root), "XDG_STATE_HOME": str(lab.root / "state"), "PATH": os.environ["PATH"]}
    monitor = lab.begin(call, **home)
    typed(pane, watch(pane))
    out, err = monitor.communicate(timeout=MINUTE)
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    assert (found["state"], found["cause"], found["final"], monitor.returncode) == ("stopped", "exited", True, 10), err
