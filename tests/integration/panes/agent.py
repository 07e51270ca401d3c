"""A pane that shows a golden screen, with a process of the agent's name in front of it.

The process is a real one and does nothing. What real agents do is for `tests/agents`; this is for what lies between a
pane and its verdict.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.conftest import tool
from tests.integration.panes.private import Private

SCREENS = Path(__file__).parents[2] / "goldens" / "agents" / "screens"


def show(private: Private, directory: Path, agent: str, case: str) -> str:
    """Start such a pane; its id."""
    golden = SCREENS / agent / case
    facts = json.loads((golden / "facts.json").read_text())
    program = directory / agent
    shutil.copy(tool("sleep"), program)
    text = directory / "screen.txt"
    rows = (golden / "screen.txt").read_text().rstrip("\n")
    text.write_text(rows)
    size = int(facts["pane_width"]), int(facts["pane_height"])
    pane = private.start(f"stty -echo; cat {text}; exec {program} 1000", size=size)
    last = [row for row in rows.split("\n") if row.strip()][-1].strip()
    private.until_shows(pane, last[-20:].strip())
    return pane
