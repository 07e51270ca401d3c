"""Timelines of real agents: what Midwatch sees, look by look, with the truth beside it.

The looks are taken by the product's own recorder. The truth is what the driver did and what the model's server did at
that moment by its journal, never what a detector said.
"""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path
from typing import Any

import midwatch
from midwatch.agents import catalog
from midwatch.agents.hooks import events
from midwatch.agents.program_status.observe import ProgramStatus
from midwatch.replay.record import SessionRecorder
from midwatch.sessions.codec import recording
from midwatch.sessions.pane_observer import PaneObserver
from tests.lab.pane import AgentPane

EVERY = 0.25
AGENTS = Path(midwatch.__file__).parent / "agents"


def told(agent: str, spool: Path) -> dict[str, Any]:
    """How an agent is to be started so that it tells Midwatch's own hook."""
    name = agent.partition("-")[0]
    if name == "opencode":
        return {"plugin": events.plugin_source((AGENTS / "opencode" / "plugin.js").read_text(), str(spool))}
    return {"hooks": events.hook_command(str(AGENTS / "hooks" / "hook.sh"), str(spool), name)}


class Tape:
    """Records one pane in the background, and takes down what is true."""

    def __init__(self, pane: AgentPane, spool: Path, status: Path | None = None) -> None:
        self.pane = pane
        self._out = io.StringIO()
        server = (pane.server_args[0], pane.server_args[1])
        self._panes = PaneObserver(catalog.load_all(), str(spool), server)
        self._panes.status = ProgramStatus(str(status or spool))
        self._recorder = SessionRecorder(self._panes, pane.pane_id, self._out, redact=True)
        self._truths: list[tuple[float, str, str, str]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._recorder.run(EVERY, self._recorder.took + EVERY / 2)
            self._stop.wait(EVERY)

    def true(self, at: float, turn: str, detail: str, by: str) -> None:
        """From a moment of the wall clock on, this is so."""
        self._truths.append((at, turn, detail, by))

    def save(self, path: Path, scenario: str) -> None:
        """End the recording and write it with its truths, all in the order of their times."""
        self._stop.set()
        self._thread.join()
        self._panes.close()
        lines = self._out.getvalue().splitlines()[1:]
        looks = [(json.loads(line)["at"], _seen(line)) for line in lines]
        first = json.loads(lines[0])
        began = first["wall"] - first["at"]
        agent = self.pane.agent.partition("-")[0]
        for at, turn, detail, by in self._truths:
            truth = recording.RecordedTruth(max(0.0, at - began), turn, detail, by)
            looks.append((truth.at, recording.encode_truth(truth)))
        header = recording.RecordingWriter().header(recording.RecordingHeader(agent, self.pane.version, scenario))
        ordered = [line for _, line in sorted(looks, key=lambda each: each[0])]
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join([header, *ordered]).replace(str(AGENTS.parents[2]), "/opt/midwatch")
        path.write_text(text + "\n", encoding="utf-8")


def _seen(line: str) -> str:
    """A look without the verdict of the day: what is kept is evidence, and beside it what was true."""
    found = json.loads(line)
    found.pop("given", None)
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))
