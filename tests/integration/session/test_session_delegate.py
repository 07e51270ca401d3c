"""`midwatch session delegate`: a task for a session that runs, and one answer."""

from __future__ import annotations

import json
import os
from typing import Any

from midwatch.integrations.mqtt.codec import messages
from tests.conftest import PATIENCE, alive, until
from tests.integration.session.desk import Desk
from tests.integration.spawn.office import Office
from tests.lab.mosquitto import Listener, Mosquitto


def told(office: Office) -> list[dict[str, Any]]:
    """What the journal has of tasks."""
    lines = [json.loads(line) for line in office.box("events", "--json").out.splitlines()]
    return [line for line in lines if line["event"] == "delegated"]


def test_a_session_does_what_it_is_given(desk: Desk, office: Office) -> None:
    row = desk.create()
    done = desk("delegate", "api", "--prompt", "say it", "--json")
    assert done.code == 0, done
    assert (done.json["state"], done.json["name"]) == ("completed", "api")
    (event,) = told(office)
    assert (event["name"], event["state"], event["exit_code"]) == ("api", "completed", 0)
    assert event["conversation"] == row["claude_session_id_own"]
    assert event["run"] == office.box.record("api")["run"]
    assert desk.row()["last_visible_status"] == "idle"
    assert alive(desk.agent())


def test_each_turn_is_its_own(desk: Desk, office: Office) -> None:
    desk.create("api", "--prompt", "say hello")
    office.until_state("idle")
    waiting = office.box.start("session", "delegate", "api", "--prompt", "work", "--json")
    office.until_state("working")
    until(lambda: b"work" in office.typed())
    office.go("fail")
    out, _ = waiting.communicate(timeout=PATIENCE)
    assert (waiting.returncode, json.loads(out)["state"]) == (1, "failed")
    assert [event["state"] for event in told(office)] == ["failed"]


def test_the_work_must_be_there(desk: Desk, office: Office) -> None:
    desk.create()
    done = desk("delegate", "api", "--prompt", "say it", "--verify", "file:nothing", "--json")
    assert (done.code, done.json["state"]) == (6, "incomplete")
    assert desk("delegate", "api", "--prompt", "say it", "--verify", "true").code == 0
    assert [event["state"] for event in told(office)] == ["incomplete", "completed"]


def test_what_counts_is_what_was_done_since_the_task_was_given(desk: Desk, office: Office) -> None:
    desk.create("api", "--verify", "file:made")
    (office.cwd / "made").write_text("since it began, but before the task")
    began = office.box.record("api")["started"] - 0.9  # a second is allowed for the clocks of file systems
    os.utime(office.cwd / "made", (began, began))
    done = desk("delegate", "api", "--prompt", "say it", "--json")
    assert (done.code, done.json["state"]) == (6, "incomplete"), done


def test_one_that_asks_a_person_is_told(desk: Desk) -> None:
    desk.create()
    done = desk("delegate", "api", "--prompt", "ask", "--json")
    assert (done.code, done.json["state"]) == (8, "waiting")


def test_a_dialog_in_the_way_is_told_and_nothing_typed(desk: Desk, office: Office) -> None:
    desk.create("api", "--prompt", "ask")
    before = office.typed()
    done = desk("delegate", "api", "--prompt", "say it", "--json")
    assert (done.code, done.json["state"]) == (8, "waiting")
    assert "was not delivered" in done.json["reason"]
    assert office.typed() == before
    assert [event["state"] for event in told(office)] == ["waiting"]


def test_time_may_be_up_and_the_session_goes_on(desk: Desk, office: Office) -> None:
    desk.create()
    done = desk("delegate", "api", "--prompt", "work", "--timeout", "6s", "--json")
    assert (done.code, done.json["state"]) == (11, "abandoned")
    assert alive(desk.agent())
    assert office.sessions() == ["api"]


def test_an_agent_that_dies_of_it_has_crashed(desk: Desk) -> None:
    desk.create()
    done = desk("delegate", "api", "--prompt", "die 9", "--json")
    assert (done.code, done.json["state"]) == (3, "crashed")


def test_a_session_that_we_never_spawned_takes_a_task_too(desk: Desk, office: Office) -> None:
    row = desk.opened(shell=True)
    desk.write(row)
    done = desk("delegate", "work", "--prompt", "say it", "--json")
    assert (done.code, done.json["state"], done.json["name"]) == (0, "completed", "work"), done
    (event,) = told(office)
    assert (event["name"], event["run"]) == ("work", f"{row['pane']['pid']}-{row['pane']['start']}")
    assert desk.row("work")["last_visible_status"] == "idle"


def test_what_does_not_run_takes_none(desk: Desk, office: Office) -> None:
    desk.write(desk.past("old"), desk.past("gone", status="running"))
    for name, why in (("old", "old is stopped"), ("gone", "there is no agent in gone")):
        done = desk("delegate", name, "--prompt", "say it")
        assert done.code == 12
        assert why in done.err
    assert desk("delegate", "nobody", "--prompt", "say it").code == 7
    assert told(office) == []


def test_beside_a_monitor_the_work_is_verified_all_the_same(desk: Desk, office: Office) -> None:
    desk.create()
    watcher = office.monitor("api")
    until(lambda: office.box.path("api.watch").exists())
    done = desk("delegate", "api", "--prompt", "say it", "--verify", "file:nothing", "--json")
    assert (done.code, done.json["state"]) == (6, "incomplete")
    assert watcher.end()["state"] == "completed"


def test_its_end_is_published_if_there_is_a_broker(desk: Desk, office: Office) -> None:
    broker = Mosquitto(office.home / "broker")
    broker.start()
    (office.home / ".config/midwatch").mkdir(parents=True)
    (office.home / ".config/midwatch/config.toml").write_text(f'[mqtt]\nurl = "{broker.url}"\n')
    listener = Listener(broker, messages.subscription_topic("midwatch"))
    row = desk.opened()
    desk.write(row)
    assert desk("delegate", "work", "--prompt", "say it").code == 0

    def heard() -> list[dict[str, Any]]:
        found = [json.loads(line.split(" ", 1)[1]) for line in listener.lines()]
        return [each for each in found if each["event"] == "delegated"]

    try:
        until(lambda: bool(heard()), listener.out.parent)
    finally:
        listener.close()
        broker.kill()
    (said,) = heard()
    assert (said["name"], said["kind"], said["state"], said["exit_code"]) == ("work", "session", "completed", 0)
    assert (said["project"], said["pane"]) == (str(office.cwd), row["pane"]["id"])
