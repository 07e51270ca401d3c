"""What the pane of a task shows: that its agent waits for a person or a limit, what is new on its screen, who it is.

Whoever waits is not stuck. An agent that prints nothing until its end still writes its transcript, and what it prints
stands on the screen long before a capture that is buffered has written it. Of a program that no file describes only
the screen is known.
"""

from __future__ import annotations

import time
import zlib

from midwatch.agents import catalog, evidence, launch, parts
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.config import paths
from midwatch.core.errors import FormatError, MidwatchError
from midwatch.sessions.model import PaneVerdict
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.taskdir.model import TaskAgent, TaskPaneState
from midwatch.taskdir.observe import read_text

SECOND_LOOK = 1.0
"""Seconds between the two looks that must agree before the task is said to wait."""
TELLING = ("waiting", "limited")
MOMENTS = ("hook", "transcript")
KNOWING = ("state", "api", "hook")
"""Who knows the conversation of an agent; its transcript is found by guessing where nobody does."""


class TaskAgentObserver:
    def __init__(self, server: tuple[str, ...], directory: str) -> None:
        self.server = server
        self.directory = directory
        self.due = 0.0
        self._panes: PaneObserver | None = None
        self._heads = FileHeadCache()
        self.agent = 0
        self._said = TaskPaneState()
        self._first: tuple[str, float] = ("", 0.0)

    def listen(self, pane: str, agent: int, interval: float, *, quiet: bool) -> TaskPaneState:
        """``quiet``: the agent has shown nothing new for so long that it is worth a closer look."""
        now = time.monotonic()
        if agent != self.agent:
            self.agent, self._said, self._first, self.due = agent, TaskPaneState(), ("", 0.0), 0.0
        if pane and (now >= self.due or quiet):
            self.due = now + interval
            self._said = self._look(pane, now)
        return self._said

    def _look(self, pane: str, now: float) -> TaskPaneState:
        try:
            if self._panes is None:
                self._panes = PaneObserver(catalog.load_all(), paths.hook_spool(), self.server)
            looked = self._panes.observe(pane)
        except MidwatchError:  # a file that describes an agent is wrong: `agents list` says where
            return TaskPaneState()
        seen = next((each for each in looked.seen if each.sighting.pane.id == pane), None)
        if seen is None:
            return TaskPaneState(screen=self._printed(self._panes, pane))
        told = [report.at for report in seen.sighting.reports if report.source in MOMENTS and report.at is not None]
        state = seen.verdict.state if seen.verdict.state in TELLING else ""
        if state != self._first[0]:
            self._first = (state, now)
            if state:
                self.due = min(self.due, now + SECOND_LOOK)
        lasting = state and now - self._first[1] >= SECOND_LOOK
        verdict = seen.verdict
        turn = (verdict.state, verdict.cause, verdict.reason) if lasting else TaskPaneState().turn
        text = evidence.build_facts(self._panes.known[pane].detector, seen.sighting, pane).progress["text"]
        return TaskPaneState(turn, max(told, default=0.0), float(text), self._worker(self._panes, seen))

    def _printed(self, panes: PaneObserver, pane: str) -> float | None:
        """Of a program that prints line by line, whatever it is: what stands above the cursor."""
        look = panes.tmux.observe(lambda each: each.id == pane, known=[pane])
        where = next((each for each in look.panes if each.id == pane), None)
        if where is None or where.alternate or pane not in look.screens:
            return None
        return float(zlib.crc32("\n".join(look.screens[pane][: where.cursor_y]).encode("utf-8", "surrogatepass")))

    def _worker(self, panes: PaneObserver, seen: PaneVerdict) -> TaskAgent:
        known = panes.known[seen.sighting.pane.id]
        running, start = known.running, known.detector.start
        if running is None:
            return TaskAgent()
        told = [each.words.get("conversation", "") for each in seen.sighting.reports if each.source in KNOWING]
        talk = next(filter(None, told), "") or parts.files(running.agent).own_conversation(running, self._heads)
        if start is None:
            return TaskAgent(running.agent, talk, running.cwd, None, running.environment)
        given = launch.find_options(start, running.args, read_prompt(self.directory))
        program = launch.program_words(start, running.args)
        return TaskAgent(running.agent, talk, running.cwd, given, running.environment, program)

    def close(self) -> None:
        if self._panes is not None:
            self._panes.close()


def read_prompt(directory: str) -> str:
    """The prompt of a task, as a shell hands it over; empty where there is none."""
    try:
        return (read_text(f"{directory}/prompt") or "").rstrip("\n")
    except FormatError:
        return ""
