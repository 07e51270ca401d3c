"""Codex's shared daemon, asked for the conversation of a pane."""

from __future__ import annotations

from midwatch.agents import definition
from midwatch.agents.agent_service import AgentService, ServedPane
from midwatch.agents.codex.daemon import CodexDaemon
from midwatch.core.pane_model import RunningAgent, SourceReport


class CodexService(AgentService):
    def __init__(self) -> None:
        self._daemon = CodexDaemon()

    def read(self, pane: ServedPane) -> SourceReport | None:
        def blank() -> bool:
            return "blank" in definition.split_regions(pane.detector, pane.rows)[0]

        def alone() -> bool:
            return self._daemon.is_alone(pane.running, pane.detector)

        return self._daemon.read(pane.running, before=pane.before, blank=blank, alone=alone)

    def tools_root(self, running: RunningAgent) -> int | None:
        return self._daemon.daemon_pid(running)

    def close(self) -> None:
        self._daemon.close()


SERVICE = CodexService
