"""A night with the real Claude Code and nobody at a terminal: what goes wrong mends itself or is told, once, in order.

Two turns, a crash, a plan limit, a permission, a hang, a reboot and a verified end, on short thresholds. What a phone
would show is what a server on loopback has received that speaks as ntfy does.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.conftest import need
from tests.agents.sessions import SLOW, Spawned
from tests.lab import processes
from tests.lab.lab import REPOSITORY, Lab

PORT = 8766
STALE, GRACE = "8s", "2s"
"""Patience for what hangs: a night of minutes."""
CRASHED = "go [[slow 600]]"


class Night:
    """One watched session, and the phone of whoever sleeps."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.phone = lab.root / "phone"
        self.phone.touch()
        server = lab.begin(
            [sys.executable, "-m", "tests.lab.ntfy", str(PORT), str(self.phone)], PYTHONPATH=str(REPOSITORY)
        )
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        self.session = Spawned(
            lab, "claude", oauth=True, settings={"autoContinueAtUsageLimit": False}, home=lab.root / "home"
        )
        settings = self.session.home / ".config" / "midwatch" / "config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(f'[notify]\nurls = ["ntfy://127.0.0.1:{PORT}/night"]\n')
        self.done = self.session.cwd / "done"

    def begin(self, prompt: str) -> None:
        self.session.spawn(prompt, watch="", verify=f"test -e {self.done}", stale=STALE, grace=GRACE)

    def send(self, prompt: str) -> None:
        sent = self.session.call("send", "api", prompt, "--wait", "30s")
        assert sent.returncode == 0, (sent.stdout, sent.stderr)

    def notices(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.phone.read_text().splitlines()]

    def states(self) -> list[str]:
        """Of every notice, the state that it tells."""
        return [each["title"].removeprefix("midwatch: api ") for each in self.notices()]

    def until_told(self, *states: str, timeout: float = 4 * SLOW) -> None:
        """Until the phone shows these, all that it has shown so far."""
        self.session.until(
            lambda _: len(self.states()) >= len(states), timeout, what=f"the notices {states}, not {self.states()}"
        )
        assert self.states() == list(states), (self.notices(), self.log())

    def until_state(self, state: str) -> None:
        self.session.until(lambda _: self.session.verdict()["state"] == state, SLOW, what=f"the state {state}")

    def reboot(self) -> None:
        """The tmux server and all processes of the session and its monitor are gone at once."""
        pids = [int(self.lab.tmux("display-message", "-p", "#{pid}"))]
        for name in ("api.monitor", "api"):
            record = json.loads((self.lab.root / "jobs" / f"{name}.json").read_text())
            pids += [record["shim"]["pid"], record["work"]["pid"]]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)

    def log(self) -> str:
        return self.session.call("logs", "api.monitor").stdout

    def row(self) -> dict[str, Any]:
        """The line of `ls` about the job that watches."""
        rows = map(json.loads, self.session.call("ls", "--json").stdout.splitlines())
        return next(each for each in rows if each["name"] == "api.monitor")


@pytest.fixture
def night(lab: Lab) -> Iterator[Night]:
    need("claude")
    lab.tmux("new-session", "-d", "-s", "keep", "sleep 3600")
    yield Night(lab)
    for pid in processes.marked(lab.mark):  # the tmux server of after the reboot is nobody's child in the lab
        if not processes.command(pid).startswith("nsenter") and pid != lab.keeper:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.claude
@pytest.mark.night
def test_a_night_mends_itself_or_tells_what_it_needs(night: Night) -> None:
    told = ["incomplete"]
    night.begin("go [[text The first part is there.]]")
    night.until_told(*told)

    night.send(CRASHED)  # a crash in the second turn: resumed, and nobody is woken
    night.until_state("working")
    os.kill(night.session.work(), signal.SIGKILL)
    night.until_told(*(told := [*told, "incomplete"]))
    assert night.session.record()["attempt"] == 2

    night.send("go [[limit 20]]")  # a plan limit: told, waited for, and continued
    night.until_told(*(told := [*told, "limited", "incomplete"]))

    made = night.session.cwd / "made"
    night.send(f"go [[bash touch {made}]] [[text It is made.]]")  # a permission: told, and a person answers
    night.until_told(*(told := [*told, "waiting"]))
    assert "permission" in night.notices()[-1]["message"]
    night.session.answer("Enter")
    night.until_told(*(told := [*told, "incomplete"]))
    assert made.exists()

    night.send("go [[hang]]")  # a hang: ended, resumed, and nobody is woken
    night.until_told(*(told := [*told, "incomplete"]))
    assert night.session.record()["attempt"] == 3

    night.send(CRASHED)  # a reboot in the middle of a turn
    night.until_state("working")
    night.reboot()
    Path(night.done).touch()
    back = night.session.call("session", "restore", "--json")
    assert back.returncode == 0, (back.stdout, back.stderr)
    assert json.loads(back.stdout)["outcome"] == "resumed"

    night.until_told(*told, "completed")  # a verified end
    assert "verified" in night.notices()[-1]["message"]
    night.session.call("wait", "api.monitor")
    assert (night.row()["state"], night.row()["final"]) == ("completed", True)
    assert night.states() == [*told, "completed"]
    assert {each["topic"] for each in night.notices()} == {"night"}
