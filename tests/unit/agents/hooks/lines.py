"""Lines of the spool: those that real agents left (`spool/`), and ones made up for a test."""

import json
from pathlib import Path

from midwatch.agents.hooks import events
from midwatch.agents.hooks.events import HookEvent

SPOOL = Path(__file__).parent / "spool"


def recorded(agent: str) -> list[HookEvent]:
    """What a real agent told our hook, in order."""
    lines = (SPOOL / f"{agent}.events").read_text().split("\n")
    found = [events.parse_event(line) for line in lines if line]
    return [each for each in found if each is not None]


def line(agent: str, payload: object, *, pane: str = "%1", tmux: str = "/tmp/t/default,7,0", pid: int = 9,
         boot: str = "b", up: float = 100.0, end: str = "") -> str:  # fmt: skip
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return "\t".join(("1", agent, pane, tmux, str(pid), boot, str(up), end, text))


def told(name: str, *, child: str = "", conversation: str = "c", **fields: object) -> HookEvent:
    """An event of Claude's."""
    payload = {"hook_event_name": name, "session_id": conversation} | fields
    found = events.parse_event(line("claude", payload | ({"agent_id": child} if child else {})))
    assert found is not None
    return found
