"""Limits that can be seen and cancelled: `ls`, `midwatch limit`, and how often a watch has a session continue."""

from __future__ import annotations

import json
import re
import signal
from typing import Any

from tests.conftest import kill, until
from tests.integration.monitor.test_monitor_resumes import limit
from tests.integration.spawn.office import Office


def row(office: Office, name: str = "api") -> str:
    """The line of `ls` for a person."""
    return next(line for line in office.box("ls").out.splitlines() if line.split()[0] == name)


def field(office: Office) -> dict[str, Any]:
    found = next(each for each in map(json.loads, office.box("ls", "--json").out.splitlines()) if each["name"] == "api")
    return dict(found["limit"])


def test_ls_shows_when_a_watched_session_continues(office: Office) -> None:
    office.spawned("api", "--watch", prompt=limit(3900))
    office.until_watched("limited")
    assert re.search(r"limited +\S+  continues \d\d:\d\d \(in 1h 0\dm\); it hit a limit", row(office))
    found = field(office)
    assert (found["continued_by"], found["not_continued"], found["continues_left"]) == ("monitor", None, 10)
    assert found["ends"] > 0


def test_ls_shows_that_nobody_continues_a_session_and_what_to_do(office: Office) -> None:
    office.spawned("api", prompt=limit(3900))
    office.until_state("limited")
    assert re.search(r"limited .*until \d\d:\d\d \(.*\); nobody continues it: midwatch monitor -d api", row(office))
    assert (field(office)["continued_by"], field(office)["not_continued"]) == (None, "not-watched")


def test_a_monitor_that_was_killed_continues_nothing(office: Office) -> None:
    office.spawned("api", "--watch", prompt=limit(3900))
    office.until_watched("limited")
    for pid in office.box.pids("api.monitor"):
        kill(pid, signal.SIGKILL)
    until(lambda: "nobody continues it" in row(office))


def test_a_cancelled_limit_is_only_reported(office: Office) -> None:
    office.spawned("api", "--watch", prompt=limit(5))
    office.until_watched("limited")
    done = office.box("limit", "api", "--cancel", "--json")
    assert (done.code, done.json["cancelled"], done.json["continued_by"]) == (0, True, None)
    office.box.until_file("api.monitor.log", lambda text: "its limit is over, but it does not continue" in text)
    assert b"Continue" not in office.typed()
    office.box("limit", "api", "--continue")
    assert office.box("wait", "api.monitor", "--json").json["state"] == "completed"
    assert office.typed().count(b"Continue where you left off.") == 1


def test_limit_tells_the_plan(office: Office) -> None:
    office.spawned("api", "--watch", "--continues", "4", prompt=limit(3900))
    office.until_watched("limited")
    first, second = office.box("limit", "api").out.splitlines()
    assert first.startswith("api: limited: continues ")
    assert second == "  after a limit its monitor tells it to go on, 4 times at most from now on"
    assert office.box("limit", "api", "--json").json["monitor"] == "api.monitor"
    cancelled = office.box("limit", "api", "--cancel").out
    assert "nobody continues it: cancelled; midwatch limit api --continue" in cancelled


def test_the_number_of_continuations_is_capped(office: Office) -> None:
    office.spawned("api", "--watch", "--continues", "1", "--verify", "false", prompt=limit(4))
    office.box.until_file("api.monitor.log", lambda text: "api: incomplete" in text)
    assert json.loads(office.box.path("api.plan").read_text())["continues"] == 0
    assert office.box("send", "api", limit(4)).code == 0
    office.box.until_file("api.monitor.log", lambda text: "continue as often as this watch allows" in text)
    assert office.typed().count(b"Continue where you left off.") == 1


def test_a_job_has_no_limit_and_a_name_that_is_none_is_not_found(office: Office) -> None:
    office.box("run", "-d", "--name", "build", "--", "true")
    office.box("wait", "build")
    assert office.box("limit", "build").code == 12
    assert office.box("limit", "nobody").code == 7
    assert office.box("limit", "api", "--cancel", "--continue").code == 2
