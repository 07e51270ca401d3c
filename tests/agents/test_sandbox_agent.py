"""Real agents with their own sandboxes, set up as docs/guides/sandbox.md says: what runs inside reaches Midwatch."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable
from typing import Any

import pytest

from tests.agents.sessions import SLOW, Spawned
from tests.integration.drop.sandboxes import example
from tests.lab.lab import Lab

PATH = "/home/you/.local/state/midwatch/proj-1a2b3c4d/drop/api"
"""As it stands on the page."""


def claude(box: str) -> dict[str, Any]:
    settings = json.loads(example("json", "Claude Code").replace(PATH, box))
    return {"settings": settings | {"permissions": {"allow": ["Bash"]}}}


def codex(box: str) -> dict[str, Any]:
    settings = tomllib.loads(example("toml", "Codex").replace(PATH, box))
    return {"settings": settings | {"approval_policy": "never"}}


@pytest.mark.parametrize(
    ("agent", "settings"),
    [
        pytest.param("claude", claude, id="claude", marks=pytest.mark.claude),
        pytest.param("codex", codex, id="codex", marks=pytest.mark.codex),
    ],
    indirect=["agent"],
)
def test_a_beat_from_the_sandbox_of_an_agent_arrives(
    lab: Lab, agent: str, settings: Callable[[str], dict[str, Any]]
) -> None:
    """And nothing else of the state directory can be written there."""
    jobs = lab.root / "jobs"
    session = Spawned(lab, agent, **settings(str(jobs / "drop" / "api")))
    (session.cwd / "say.sh").write_text(
        f"{sys.executable} -m midwatch beat --note 'from inside' >said 2>&1\necho $? >>said\n"
        f"{sys.executable} -m midwatch mail send --to controller --subject done all >>said 2>&1\n"
        f"(echo forged >{jobs}/api.status) 2>>said || echo refused >>said\n"
    )
    session.spawn("do it [[bash sh ./say.sh]] [[text done]]")
    said = session.cwd / "said"
    session.until(lambda _: said.exists() and said.read_text().endswith("refused\n"), SLOW, what="what is said inside")
    assert said.read_text().startswith("0\n")
    assert not (jobs / "api.status").exists()
    beat = json.loads((jobs / "drop" / "api" / "api.beat").read_text())
    assert (beat["note"], beat["run"]) == ("from inside", session.record()["run"])
    found = json.loads(session.call("mail", "inbox", "--dir", str(jobs), "--json").stdout)
    assert (found["from"], found["subject"]) == ("api", "done")
