"""The real Claude Code reports of itself (OSC 7501) in sessions that Midwatch starts: asked for, heard, believed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.agents.conftest import need
from tests.agents.sessions import SLOW, Spawned
from tests.lab.lab import Lab

STARTS = 20
BURN = "while True: pass"
JOB = "n = 0\nfor i in range(6_000_000): n += i"
SLOWER = 1.5
"""How much slower a job of known size must be for the machine to count as loaded."""
SUB = '{"description":"look around","prompt":"sub ((think 3)) ((text sub done))","subagent_type":"general-purpose"}'

pytestmark = pytest.mark.claude


@pytest.fixture
def home(lab: Lab) -> Iterator[Lab]:
    """A lab whose tmux server outlives its sessions."""
    need("claude")
    lab.tmux("new-session", "-d", "-s", "keep", "sleep 3600")
    yield lab
    lab.tmux("kill-session", "-t", "=keep")


class Reporting(Spawned):
    """A session, and what its reader has noted."""

    def files(self) -> list[Path]:
        return [*(self.lab.root / "state" / "midwatch" / "status").glob(f"*{self.pane_id}.status")]

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for path in self.files() for line in path.read_text().splitlines()]

    def handshake(self) -> dict[str, Any]:
        """What became of the question; it is noted once it was asked, or is not expected any more."""
        found: list[dict[str, Any]] = []

        def noted(_: object) -> bool:
            found[:] = [line for line in self.lines() if "asked" in line]
            return bool(found)

        self.until(noted, SLOW, what="the handshake")
        return found[0]

    def until_reported(self, **fields: object) -> dict[str, Any]:
        """The first report with these fields."""
        found: list[dict[str, Any]] = []

        def there(_: object) -> bool:
            found[:] = [line for line in self.lines() if fields.items() <= line.items()]
            return bool(found)

        self.until(there, SLOW, what=f"a report {fields}")
        return found[-1]

    def until_verdict(self, *wanted: str) -> dict[str, Any]:
        """The live state, once it is this state and cause."""
        found: list[dict[str, Any]] = []

        def there(_: object) -> bool:
            found[:] = [self.verdict()]
            return (found[0]["state"], found[0]["cause"]) == wanted

        self.until(there, SLOW, what=f"{wanted}, not {found}")
        return found[0]


# The handshake leans on the moment at which Claude Code reads ---------------------------------------------------------


def seconds_of_job() -> float:
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", JOB], check=True)
    return time.monotonic() - began


@contextmanager
def load() -> Iterator[None]:
    """Real load: each process in a session of its own, or the scheduler would give all of them one share together."""
    with ExitStack() as held:
        for _ in range(3 * (os.cpu_count() or 1)):
            burner = subprocess.Popen([sys.executable, "-c", BURN], start_new_session=True)
            held.callback(burner.wait)
            held.callback(burner.kill)
        yield


def heard(home: Lab, name: str) -> bool:
    """Whether a newly started Claude Code took our answer, and reports."""
    session = Reporting(home, "claude", name)
    session.spawn()
    asked = session.handshake()["asked"]
    if asked:
        session.until_reported(state="idle")
    session.call("stop", name)
    return bool(asked)


@pytest.mark.parametrize("loaded", [False, True], ids=["idle", "loaded"])
def test_every_start_of_the_newest_claude_takes_the_answer(
    home: Lab, loaded: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """If a new release asks differently, this is where it shows: nothing else would, for other sources tell as well."""
    alone = seconds_of_job()
    with load() if loaded else ExitStack():
        slower = seconds_of_job() / alone
        found = [heard(home, f"s{number}") for number in range(STARTS)]
    with capsys.disabled():
        print(f"\nhandshake: {sum(found)} of {STARTS} starts, a job took {slower:.1f} x as long")
    assert not loaded or slower > SLOWER, "the load is none: what it proves would be nothing"
    assert found == [True] * STARTS


# A night --------------------------------------------------------------------------------------------------------------


def of_source(verdict: dict[str, Any], source: str) -> list[str]:
    return [each["says"] for each in (*verdict["for"], *verdict["against"]) if each["source"] == source]


def test_a_night_is_told_by_what_claude_reports(home: Lab) -> None:
    """Permission, question, Esc, sub-agent, done, limit: each by its report, and by every source together."""
    session = Reporting(home, "claude", oauth=True, settings={"permissions": {"allow": ["Agent", "Task"]}})
    session.spawn("go [[write made.txt hello]] [[text written]]")
    found = session.until_verdict("waiting", "permission")
    assert of_source(found, "osc7501") == ["waiting (permission), by rule reports-permission,"]
    assert found["message"].startswith("approve Write: ")
    assert found["message"] in found["reason"]
    session.until("Esc to cancel")  # it reports before it draws
    session.answer("Enter")
    assert of_source(session.until_verdict("idle", "turn-ended"), "osc7501")[0].startswith("idle (turn-ended)")

    session.type("ask [[ask Which colour? | Red | Blue]] [[text thanks]]")
    found = session.until_verdict("waiting", "question")
    assert "Which colour?" in found["message"]
    session.until("Enter to select")
    session.answer("Enter")
    session.until_verdict("idle", "turn-ended")

    session.type("hang [[hang]]")
    session.until_verdict("working", "model")
    session.keys("Escape")
    found = session.until_verdict("waiting", "interrupted")
    assert of_source(found, "osc7501")[0].startswith("idle (interrupted)")
    session.keys("C-u")

    session.type(f"send one [[tool Agent {SUB}]] [[text all back]]")
    child = session.until_reported(title="look around")
    assert (child["state"], bool(child["id"])) == ("working", True)
    session.until_reported(id=child["id"], state="clear")
    session.until_verdict("idle", "turn-ended")

    session.type("more [[limit 7200]]")
    found = session.until_verdict("limited", "limit")
    assert of_source(found, "osc7501")[0].startswith("limited (plan) until")


def test_a_resumed_claude_is_asked_again(home: Lab) -> None:
    session = Reporting(home, "claude")
    session.spawn("go [[text noted]]")
    assert session.monitor().end()["state"] == "completed"
    before = session.lines()[0]["reader"]
    os.kill(session.work(), signal.SIGKILL)
    session.until_verdict("crashed", "signal")
    assert session.call("resume", "api").returncode == 0
    session.until(lambda _: session.files() and session.lines()[0]["reader"] != before, SLOW, what="another reader")
    assert session.handshake()["asked"]
    session.until_reported(state="idle")


@pytest.mark.parametrize("silent", ["trusted", "no-status-protocol"])
def test_where_it_reports_nothing_others_tell(home: Lab, silent: str) -> None:
    """It says little or nothing of its question for trust; and nothing at all where it was not asked to."""
    session = Reporting(home, "claude", trusted=silent != "trusted")
    if silent == "trusted":
        session.spawn()
        assert session.until_verdict("waiting", "trust")["detail"] == "trust"
        return
    session.call(
        "spawn", "api", "--agent", "claude", "--cwd", str(session.cwd), "--socket", session.tmux.arguments[1],
        "--no-status-protocol",
    )  # fmt: skip
    session.pane_id = session.record()["pane"]["id"]
    session.ready(SLOW)
    session.type("go [[text fine]]")
    found = session.until_verdict("idle", "turn-ended")
    assert (session.files(), of_source(found, "osc7501")) == ([], [])
