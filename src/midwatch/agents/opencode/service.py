"""OpenCode's own server, asked for the sessions of a pane's directory."""

from __future__ import annotations

from midwatch.agents.agent_service import AgentService, ServedPane
from midwatch.agents.opencode.server import OpenCodeServer
from midwatch.core.pane_model import SourceReport


class OpenCodeService(AgentService):
    def __init__(self) -> None:
        self._server = OpenCodeServer()

    def read(self, pane: ServedPane) -> SourceReport | None:
        return self._server.read(pane.running)


SERVICE = OpenCodeService
