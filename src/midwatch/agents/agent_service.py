"""The server or daemon of an agent, asked at each look. A folder's ``service.py`` has a subclass."""

from __future__ import annotations

from midwatch.agents.definition import Detector
from midwatch.core.pane_model import RunningAgent, SourceReport
from midwatch.core.value import Value


class ServedPane(Value):
    """A pane with an agent, for whose conversation the service is asked."""

    running: RunningAgent
    detector: Detector
    rows: tuple[str, ...]
    """Its screen."""
    before: str
    """The conversation that this process was last known to have."""


class AgentService:
    """Kept by a watcher from look to look, for all panes of its agent. It never raises; trouble is in the report."""

    def read(self, pane: ServedPane) -> SourceReport | None:
        """What it says of the conversation in a pane; None where there is no such server."""
        raise NotImplementedError

    def tools_root(self, running: RunningAgent) -> int | None:  # noqa: ARG002  # a subclass needs it
        """The process outside of the pane that the agent's tools are below; None where they are below the agent."""
        return None

    def close(self) -> None:
        """End its connections."""
