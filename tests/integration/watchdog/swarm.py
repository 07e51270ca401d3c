"""A session with a controller, a project with tasks, and the watchdog of both."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.agents import catalog
from midwatch.config import load
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.swarm import watchdog_store
from midwatch.swarm.controller_session import ControllerSession
from midwatch.swarm.model import WakeRules
from midwatch.swarm.watchdog import Watchdog, WatchdogRequest
from midwatch.system import procfs
from midwatch.trackers import select
from tests.conftest import Box, Done, until
from tests.integration.panes.private import Private
from tests.integration.send.conftest import Agent

TITLE = "claude code"


class Swarm:
    """The stand-in is the controller; its title is what it sets itself."""

    def __init__(self, box: Box, private: Private, agent: Agent) -> None:
        self.box, self.private, self.agent = box, private, agent
        self.project = box.cwd / "project"
        (self.project / ".git").mkdir(parents=True)
        box.env |= {"XDG_STATE_HOME": os.environ["XDG_STATE_HOME"], "TMUX_TMPDIR": os.environ["TMUX_TMPDIR"]}
        box.env[watchdog_store.LINKS] = str(box.cwd)

    # As a person

    def __call__(self, verb: str, *words: str, session: str = "work", **env: str) -> Done:
        return self.box("watchdog", verb, "--session", session, *self.private.server, *words, **env)

    def start(self, *words: str) -> Done:
        return self("start", "--project-dir", str(self.project), "--controller-title-regex", TITLE, *words)

    def task(self, *words: str) -> str:
        done = self.box("task", *words, "--project-dir", str(self.project))
        assert done.code == 0, done
        return done.out.strip()

    def status(self, session: str = "work") -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self("status", "--json", session=session).out)
        return found

    def standing(self, session: str = "work") -> watchdog_store.WatchdogStatus | None:
        return watchdog_store.read_status(watchdog_store.base_path(session, str(self.private.socket)))

    @property
    def log(self) -> str:
        path = Path(watchdog_store.default_log_path("work"))
        return path.read_text() if path.exists() else ""

    def until_logged(self, words: str) -> None:
        until(lambda: words in self.log, Path(watchdog_store.default_log_path("work")).parent)

    @property
    def messages(self) -> int:
        return self.agent.typed.count(b"\r")

    # As the watchdog itself, round by round

    @contextlib.contextmanager
    def dog(self, *, session: str = "work", title: str = TITLE, **asked: Any) -> Iterator[tuple[Watchdog, list[str]]]:
        log: list[str] = []
        wanted = WatchdogRequest(session, str(self.project), title, asked.pop("epic", ""), asked.pop("beads", ()),
                       asked.pop("rules", WakeRules()), self.private.server, **asked)  # fmt: skip
        panes = PaneObserver(catalog.load_all(), "/nowhere", self.private.server)
        here = str(self.project)
        world = ControllerSession(wanted, load.load(here), select.find_tracker(here), panes, log.append,
                           lambda: False)  # fmt: skip
        try:
            yield Watchdog(wanted, world, log.append), log
        finally:
            panes.close()

    def sweep(self) -> None:
        for path in Path(os.environ["XDG_STATE_HOME"]).glob("midwatch/watchdogs/*.json"):
            found = json.loads(path.read_text())
            if found["pid"] != os.getpid() and procfs.start_time(found["pid"]) == found["start"]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(found["pid"], signal.SIGKILL)


@pytest.fixture
def swarm(box: Box, private: Private, agent: Agent) -> Iterator[Swarm]:
    found = Swarm(box, private, agent)
    yield found
    found.sweep()
