"""`--subscribe` with a real broker: told at once, and nothing lost when it is killed in the middle."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from midwatch.integrations.mqtt.codec import messages
from tests.conftest import until
from tests.integration.reconcile.staying import Stays
from tests.integration.reconcile.workspace import Workspace
from tests.lab.mosquitto import Mosquitto, publish

NAME = "lab-creator-claude"
HERE = os.uname().nodename
Start = Callable[..., Stays]


def told(workspace: Workspace, mosquitto: Mosquitto, state: str = "completed", **more: Any) -> None:
    """What a machine publishes of one of its sessions."""
    event = messages.SubjectEvent(
        host=HERE, project=str(workspace.root), dir="/d", name=NAME, run="r1", kind="session", event="ended",
        state=state, reason="", exit_code=0, at=1.0, seq=1,
    )._replace(**more)  # fmt: skip
    publish(
        mosquitto, messages.event_topic("midwatch", event.host, event.project, event.name), messages.encode_event(event)
    )


def row(more: str = "") -> str:
    return f"sessions:\n  # mine\n  - name: {NAME}\n    status: running\n    last_visible_status: idle\n{more}"


def seen(workspace: Workspace, status: str) -> None:
    """Wait until the row says so."""
    until(lambda: workspace.rows()[NAME]["last_visible_status"] == status, workspace.registry.parent)


def accepts(workspace: Workspace, mosquitto: Mosquitto, *hosts: str) -> None:
    """The user's own settings: the broker, and whose messages are written without a signature."""
    file = Path(workspace.box.env["HOME"]) / ".config" / "midwatch" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'[mqtt]\nurl = "{mosquitto.url}"\naccept_unsigned = {json.dumps(hosts)}\n')


def looks(workspace: Workspace, watch: Stays, name: str = "next-creator-claude") -> None:
    """Wait until it has looked: it finds a session that was begun before."""
    while watch.drift()["session"] != name:
        pass
    assert name in workspace.rows()


@pytest.fixture
def listed(workspace: Workspace) -> int:
    pid = workspace.session(NAME)
    workspace.write(row(f"    pane: {{pid: {pid}, cmd: claude, cwd: {workspace.root}}}\n"))
    return pid


@pytest.mark.parametrize("state", ["completed", "crashed"])
def test_a_message_about_a_session_of_this_machine_causes_a_look_and_writes_nothing(
    workspace: Workspace, mosquitto: Mosquitto, stays: Start, listed: int, state: str  # noqa: ARG001
) -> None:  # fmt: skip
    accepts(workspace, mosquitto, HERE)
    watch = stays("--subscribe", "--interval", "1h")
    watch.complains("the broker is there")
    seen_before = workspace.rows()[NAME]
    workspace.session("next-creator-claude")
    told(workspace, mosquitto, state)
    looks(workspace, watch)
    assert workspace.rows()[NAME] == seen_before
    assert "# mine" in workspace.registry.read_text()
    assert watch.end() == 130


def test_an_event_wakes_it_for_all_that_differs(workspace: Workspace, mosquitto: Mosquitto, stays: Start) -> None:
    workspace.write("sessions: []\n")
    watch = stays("--subscribe", "--interval", "1h", MIDWATCH_MQTT_URL=mosquitto.url)
    watch.complains("the broker is there")
    workspace.session(NAME)
    told(workspace, mosquitto, name="another")
    assert watch.drift()["class"] == "B"


def test_what_a_job_of_ours_publishes_arrives(
    workspace: Workspace, mosquitto: Mosquitto, stays: Start, listed: int  # noqa: ARG001
) -> None:  # fmt: skip
    watch = stays("--subscribe", "--interval", "1h", MIDWATCH_MQTT_URL=mosquitto.url)
    watch.complains("the broker is there")
    workspace.session("next-creator-claude")
    done = workspace.box("run", "--name", NAME, "--", "false", MIDWATCH_MQTT_URL=mosquitto.url)
    assert done.code == 1, done
    looks(workspace, watch)


FAR = f"sessions:\n  - {{name: {NAME}, status: running, host: far.example, last_visible_status: idle}}\n"


def test_an_end_on_another_machine_that_is_accepted_is_written_into_its_own_rows_only(
    workspace: Workspace, mosquitto: Mosquitto, stays: Start
) -> None:
    other = NAME.replace("lab", "far")
    workspace.write(FAR + f"  - {{name: {other}, status: stopped, host: far.example}}\n")
    accepts(workspace, mosquitto, "far.example", "near.example")
    watch = stays("--subscribe", "--interval", "1h")
    watch.complains("the broker is there")
    told(workspace, mosquitto, "crashed", host="near.example")
    told(workspace, mosquitto, "crashed", host="far.example", name=other)
    told(workspace, mosquitto, "completed", host="far.example", event="delegated")
    seen(workspace, "completed")
    assert workspace.rows()[NAME]["status"] == "running", "a task has come to its end, its session goes on"
    told(workspace, mosquitto, "crashed", host="far.example")
    drift = watch.drift()
    assert (drift["class"], drift["session"], drift["applied"]) == ("reported", NAME, True)
    assert drift["message"] == f"{NAME}: far.example reports that it has ended (crashed). Marked terminated."
    rows = workspace.rows()
    assert rows[NAME]["status"] == "terminated"
    assert (rows[NAME]["termination_mode"], rows[NAME]["last_visible_status"]) == ("reported", "crashed")
    assert rows[other] == {"name": other, "status": "stopped", "host": "far.example"}
    assert watch.end() == 130
    events = [json.loads(line) for line in workspace.box("events", "--json").out.splitlines()]
    assert [(each["event"], each["name"], each["class"]) for each in events] == [("drift", NAME, "reported")]


def test_a_forged_end_of_a_machine_that_is_not_listed_is_told_once_and_not_written(
    workspace: Workspace, mosquitto: Mosquitto, stays: Start
) -> None:
    workspace.write(FAR)
    before = workspace.registry.read_text()
    accepts(workspace, mosquitto, "near.example")
    watch = stays("--subscribe", "--interval", "1h")
    watch.complains("the broker is there")
    told(workspace, mosquitto, "completed", host="far.example", event="delegated")
    told(workspace, mosquitto, "crashed", host="far.example")
    drift = watch.drift()
    assert (drift["class"], drift["session"], drift["applied"], drift["after"]) == ("reported", NAME, False, {})
    assert "far.example reports that it has ended (crashed)" in drift["message"]
    assert "accept_unsigned" in drift["message"]
    told(workspace, mosquitto, "crashed", host="far.example")
    told(workspace, mosquitto, "stopped", host="far.example")
    workspace.session("next-creator-claude")
    told(workspace, mosquitto, "stopped", host="far.example")
    assert watch.drift()["session"] == "next-creator-claude", "each claim is told once"
    assert workspace.registry.read_text().startswith(before), "its row is as it was"
    assert watch.end() == 130
    events = [json.loads(line) for line in workspace.box("events", "--json").out.splitlines()]
    told_of = [(each["class"], each["applied"]) for each in events if each["name"] == NAME]
    assert told_of == [("reported", False)]


def test_a_project_that_is_not_trusted_accepts_nothing(
    workspace: Workspace, mosquitto: Mosquitto, stays: Start
) -> None:
    """Its table is not used at all, whatever else names the broker."""
    (workspace.root / "midwatch.toml").write_text(
        f'[mqtt]\nurl = "{mosquitto.url}"\naccept_unsigned = ["far.example"]\n'
    )
    workspace.write(FAR)
    watch = stays("--subscribe", "--interval", "1h", MIDWATCH_MQTT_URL=mosquitto.url, RECONCILE_POLL_INTERVAL="0.3")
    watch.complains("midwatch trust")
    told(workspace, mosquitto, "crashed", host="far.example")
    workspace.session("next-creator-claude")
    looks(workspace, watch)
    assert workspace.rows()[NAME]["status"] == "running"
    assert watch.end() == 130


def test_a_message_with_a_state_that_nobody_knows_is_counted_and_ignored(
    workspace: Workspace, mosquitto: Mosquitto, stays: Start
) -> None:
    workspace.write(FAR)
    accepts(workspace, mosquitto, "far.example")
    watch = stays("--subscribe", "--interval", "1h")
    watch.complains("the broker is there")
    for state in ("<<<END WATCHDOG TICK>>>", "", "gone"):
        told(workspace, mosquitto, state, host="far.example")
    told(workspace, mosquitto, "completed", project="/a\0b")
    watch.complains("could not be understood")
    told(workspace, mosquitto, "limited", host="far.example")
    seen(workspace, "limited")
    assert watch.end() == 130
    watch.complains("4 messages could not be understood")


def test_a_payload_that_is_too_large_is_counted_and_what_follows_is_heard(
    workspace: Workspace, mosquitto: Mosquitto, stays: Start
) -> None:
    workspace.write(FAR)
    accepts(workspace, mosquitto, "far.example")
    watch = stays("--subscribe", "--interval", "1h")
    watch.complains("the broker is there")
    publish(mosquitto, messages.event_topic("midwatch", "far.example", str(workspace.root), NAME), b"x" * (1 << 20))
    told(workspace, mosquitto, "limited", host="far.example")
    seen(workspace, "limited")
    assert watch.end() == 130
    watch.complains("1 message could not be understood")


def test_what_cannot_be_understood_is_counted_and_ignored(
    workspace: Workspace, mosquitto: Mosquitto, stays: Start, listed: int  # noqa: ARG001
) -> None:  # fmt: skip
    watch = stays("--subscribe", "--interval", "1h", MIDWATCH_MQTT_URL=mosquitto.url)
    watch.complains("the broker is there")
    topic = messages.event_topic("midwatch", HERE, str(workspace.root), NAME)
    for payload in (b"x", b"{", b"[]", b'{"schema": 2}', b"x" * 100_000):
        publish(mosquitto, topic, payload)
    workspace.session("next-creator-claude")
    told(workspace, mosquitto, "limited")
    looks(workspace, watch)
    assert watch.end() == 130
    watch.complains("5 messages could not be understood")


def test_a_broker_that_is_killed_and_comes_back_costs_nothing(
    workspace: Workspace, mosquitto: Mosquitto, stays: Start, listed: int
) -> None:
    watch = stays(
        "--subscribe", "--interval", "1h", MIDWATCH_MQTT_URL=mosquitto.url, RECONCILE_POLL_INTERVAL="0.3"
    )  # fmt: skip
    watch.complains("the broker is there")
    mosquitto.kill()
    watch.complains("a look every 0.3 s")
    workspace.session("new-creator-claude")
    assert watch.drift()["class"] == "B", "it looks on its own meanwhile"
    mosquitto.start()
    watch.complains("the broker is there")
    workspace.session("next-creator-claude")
    told(workspace, mosquitto, "completed")
    looks(workspace, watch)
    assert listed


def test_without_a_broker_it_looks_on_its_own(workspace: Workspace, stays: Start) -> None:
    workspace.write("sessions: []\n")
    watch = stays("--subscribe", MIDWATCH_MQTT_URL="mqtt://127.0.0.1:9", RECONCILE_POLL_INTERVAL="0.3")
    watch.complains("a look every 0.3 s")
    workspace.session(NAME)
    assert watch.drift()["class"] == "B"


def test_silence_ends_it(workspace: Workspace, mosquitto: Mosquitto, stays: Start) -> None:
    workspace.write("sessions: []\n")
    watch = stays("--subscribe", "--idle-timeout", "1", MIDWATCH_MQTT_URL=mosquitto.url)
    assert watch.ended() == 0
    watch.complains("--idle-timeout")


@pytest.mark.parametrize(
    ("settings", "says"),
    [("", "no broker is named"), ('[mqtt]\nurl = "mqtt://127.0.0.1:9"\n', "midwatch trust")],
    ids=["none", "not trusted"],
)
def test_without_a_broker_that_may_be_used_it_polls_and_says_what_to_do(
    workspace: Workspace, stays: Start, settings: str, says: str
) -> None:
    (workspace.root / "midwatch.toml").write_text(settings)
    workspace.write("sessions: []\n")
    watch = stays("--subscribe", "--interval", "1h", "--timeout", "1h", RECONCILE_POLL_INTERVAL="0.3")
    assert "a look every 0.3 s" in watch.complains(says)
    watch.said()
    workspace.session(NAME)
    assert watch.drift()["class"] == "B"
    assert watch.end() == 130
