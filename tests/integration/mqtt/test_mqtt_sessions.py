"""What becomes of sessions is published: by their shims, by monitors, and for verbs that note an end themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from midwatch.integrations.mqtt.codec import messages
from midwatch.journal import journal
from midwatch.notifications import report_change
from tests.conftest import until
from tests.integration.spawn.office import Office, office
from tests.lab.mosquitto import Listener, Mosquitto

__all__ = ["office"]


class Heard:
    def __init__(self, office: Office, broker: Mosquitto) -> None:
        (office.home / ".config/midwatch").mkdir(parents=True)
        (office.home / ".config/midwatch/config.toml").write_text(f'[mqtt]\nurl = "{broker.url}"\n')
        self.listener = Listener(broker, messages.subscription_topic("midwatch"))

    def until(self, event: str) -> dict[str, Any]:
        """The first message of such an event."""

        def there() -> list[dict[str, Any]]:
            found = [json.loads(line.split(" ", 1)[1]) for line in self.listener.lines()]
            return [each for each in found if each["event"] == event]

        until(lambda: bool(there()), self.listener.out.parent)
        return there()[0]


@pytest.fixture
def heard(office: Office, mosquitto: Mosquitto) -> Iterator[Heard]:
    found = Heard(office, mosquitto)
    yield found
    found.listener.close()


def test_a_monitor_publishes_what_it_came_to_and_the_shim_that_the_session_ended(office: Office, heard: Heard) -> None:
    record = office.spawned(prompt="say hello")
    office.monitor().end()
    said = heard.until("verdict")
    assert (said["name"], said["run"], said["kind"], said["state"]) == ("api", record["run"], "session", "completed")
    assert (said["agent"], said["pane"], said["session"]) == ("claude", record["pane"]["id"], "api")
    assert said["conversation"] == record["conversation"]
    assert said["cwd"] == str(office.cwd)
    assert office.box("stop", "api").code == 0
    ended = heard.until("ended")
    assert (ended["kind"], ended["state"], ended["run"]) == ("session", "stopped", record["run"])
    assert ended["seq"] > said["seq"]


def test_what_a_verb_has_noted_is_published_when_it_says_so(
    office: Office, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.spawned(prompt="say hello")
    directory = str(office.box.dir)
    for key, value in office.box.env.items():
        monkeypatch.setenv(key, value)
    journal.record_event(
        directory, "list-row", "", "delegated", state="completed", reason="done", agent="claude", exit_code=0
    )
    report_change.start_publishing(directory, str(office.cwd))
    said = heard.until("delegated")
    assert (said["name"], said["kind"], said["state"], said["exit_code"]) == ("list-row", "session", "completed", 0)


def test_a_project_without_a_broker_is_not_bothered(office: Office) -> None:
    office.spawned(prompt="say hello")
    report_change.start_publishing(str(office.box.dir), str(office.cwd))
    assert not office.box.path("outbox").exists()
