"""Sessions beside other verbs, other people's directories, and other jobs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.conftest import until
from tests.integration.send.conftest import Gate
from tests.integration.spawn.office import Office

REFUSED = 12


@pytest.fixture
def gate(office: Office) -> Gate:
    directory = office.home / "gate"
    directory.mkdir()
    return Gate(office.box, office.tmux.program, directory)


def test_the_server_that_is_named_in_a_directory_of_others_is_not_asked(office: Office, gate: Gate) -> None:
    office.spawned(prompt="work")
    office.spawned("web", prompt="work")
    gate.notes.unlink()
    office.box.dir.chmod(0o777)
    assert office.listed() == {"api": "unknown", "web": "unknown"}
    assert "others may write to" in office.state()["reason"]
    assert gate.asked == ""
    office.box.dir.chmod(0o700)
    assert office.listed() == {"api": "working", "web": "working"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"server": ["-L", "x"]}, {"server": ["-f", "/evil"]}, {"server": ["-S", "/s", "new-session", "evil"]},
        {"server": []}, {"server": ["-S", "s"]}, {"id": "api"}, {"id": "%"}, {"id": "=x"}, {"server": "-S /s"},
    ],
)  # fmt: skip
def test_a_pane_that_is_named_otherwise_is_no_argument_of_tmux(
    office: Office, gate: Gate, wrong: dict[str, object]
) -> None:
    office.spawned()
    gate.notes.unlink()
    record = office.box.record("api")
    office.box.path("api.json").write_text(json.dumps(record | {"pane": record["pane"] | wrong}))
    assert office.box("ls", "--json").json["state"] != "completed"
    assert office.box("monitor", "api").code == REFUSED
    assert office.box("send", "api", "x").code != 0
    assert gate.asked == ""
    office.box.path("api.json").write_text(json.dumps(record))


def test_listing_what_has_ended_asks_no_server(office: Office, gate: Gate) -> None:
    for name in ("api", "web"):
        office.spawned(name, prompt="exit 3")
        office.box("wait", name)
    gate.notes.unlink()
    assert office.listed() == {"api": "failed", "web": "failed"}
    assert gate.asked == ""


def test_listing_several_asks_their_server_once(office: Office, gate: Gate) -> None:
    for name in ("one", "two", "three"):
        office.spawned(name, prompt="ask")
    gate.notes.unlink()
    assert set(office.listed().values()) == {"waiting"}
    assert len(gate.asked.splitlines()) <= len(("list with known screens", "new screens"))


def test_a_broken_file_of_an_agent_does_not_hide_the_sessions(office: Office) -> None:
    office.spawned(prompt="work")
    broken = office.home / ".config" / "midwatch" / "agents"
    broken.mkdir(parents=True)
    (broken / "mine.toml").write_text("agent = ")
    done = office.box("ls", "--json")
    assert (done.code, done.json["name"]) == (0, "api")
    assert "mine.toml:1: " in done.err
    assert office.box("why", "api").code == 0


def test_a_session_is_resumed_and_not_retried(office: Office) -> None:
    office.spawned(prompt="exit 3")
    office.box("wait", "api")
    done = office.box("retry", "api")
    assert done.code == REFUSED
    assert "`midwatch resume api` starts it again" in done.err
    assert len(office.starts()) == 1


def test_an_agent_without_a_terminal_is_not_retried_without_its_prompt(office: Office) -> None:
    office.box("spawn", "night", "--agent", "claude", "--headless", "--prompt", "say hello")
    office.box("wait", "night")
    done = office.box("retry", "night")
    assert done.code == REFUSED
    assert "what it was asked is not kept" in done.err


def test_a_server_that_is_started_from_within_a_job_is_not_that_jobs(office: Office) -> None:
    words = [*office.box.program, "spawn", "api", "--agent", "claude", "--socket", str(office.tmux.socket)]
    assert office.box("run", "--name", "job", "--", *words).code == 0
    until(lambda: len(office.starts()) == 1)
    variables = Path(f"/proc/{office.tmux.pid}/environ").read_text().split("\0")
    assert not [each for each in variables if each.startswith("MIDWATCH_RUN=")]
    assert office.start(1)["variables"]["MIDWATCH_NAME"] == "api"
    assert os.path.exists(office.box.path("api.json"))
    office.until_state("idle")
