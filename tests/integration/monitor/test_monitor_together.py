"""Several monitors of one session: one acts, the others watch; after one that was killed, the next carries on."""

from __future__ import annotations

import json
import signal

from tests.conftest import kill
from tests.integration.spawn.office import Office, Watcher


def killed(watcher: Watcher) -> None:
    kill(watcher.pid, signal.SIGKILL)
    watcher.process.wait()


def test_two_say_the_same_and_one_resumes(office: Office) -> None:
    office.spawned(prompt="work")
    first = office.monitor("api", "--resume", "1")
    office.until_watched("working", monitor=[first.pid, start(first)])
    second = office.monitor("api", "--resume", "1")
    _, work = office.box.pids("api")
    kill(work, signal.SIGKILL)
    ends = [first.end(), second.end()]
    assert [(end["state"], end["reason"]) for end in ends] == [(ends[0]["state"], ends[0]["reason"])] * 2
    assert ends[0]["state"] == "completed"
    assert [start["argv"][0] for start in office.starts()] == ["--session-id", "--resume"]


def start(watcher: Watcher) -> int:
    with open(f"/proc/{watcher.pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[19])


def test_the_one_who_watches_takes_the_place_of_one_who_is_killed(office: Office) -> None:
    office.spawned(prompt="work")
    first = office.monitor()
    office.until_watched("working")
    second = office.monitor()
    killed(first)
    office.until_watched(monitor=[second.pid, start(second)])
    office.go()
    assert second.end()["state"] == "completed"


def test_the_one_who_watches_goes_on_when_the_other_is_ended(office: Office) -> None:
    office.spawned(prompt="work")
    first = office.monitor()
    office.until_watched("working")
    second = office.monitor()
    first.process.terminate()
    assert first.end()["state"] == "abandoned"
    office.until_watched(monitor=[second.pid, start(second)], left=False)
    office.go()
    assert second.end()["state"] == "completed"


def test_ending_the_one_who_watches_changes_nothing(office: Office) -> None:
    office.spawned(prompt="work")
    first = office.monitor()
    office.until_watched("working")
    second = office.monitor("api", "--deadline", "100ms")
    end = second.end()
    assert (end["state"], end["code"]) == ("abandoned", 11)
    assert "another one goes on" in end["reason"]
    assert office.watch()["verdict"] is None
    office.go()
    assert first.end()["state"] == "completed"


def test_after_a_kill_the_next_has_what_is_left_of_the_deadline(office: Office) -> None:
    office.spawned(prompt="work")
    first = office.monitor()
    office.until_watched("working")
    killed(first)
    watch = office.watch()
    office.box.path("api.watch").write_text(json.dumps(watch | {"began": watch["at"] - 3000}))
    end = office.monitor("api", "--deadline", "50m").end()
    assert (end["state"], office.listed()) == ("abandoned", {"api": "working"})


def test_time_that_nobody_watched_does_not_count(office: Office) -> None:
    office.spawned(prompt="work")
    first = office.monitor()
    office.until_watched("working")
    killed(first)
    watch = office.watch()
    long_ago = {"began": watch["began"] - 3000, "at": watch["at"] - 3000}
    office.box.path("api.watch").write_text(json.dumps(watch | long_ago))
    second = office.monitor("api", "--deadline", "50m")
    office.until_watched(monitor=[second.pid, start(second)])
    office.go()
    assert second.end()["state"] == "completed"


def test_after_a_kill_the_next_has_no_more_resumes_than_were_left(office: Office) -> None:
    office.resumed("work")
    office.spawned(prompt="work")
    first = office.monitor("api", "--resume", "2")
    office.until_watched("working")
    kill(office.box.pids("api")[1], signal.SIGKILL)
    office.until_watched("working", run=until_resumed(office), resumes=1)
    killed(first)
    second = office.monitor("api", "--resume", "2")
    office.until_watched("working", monitor=[second.pid, start(second)], resumes=1)
    for number in (2, 3):
        until_starts(office, number)
        office.until_watched("working", resumes=3 - number)
        kill(office.box.pids("api")[1], signal.SIGKILL)
    end = second.end()
    assert (end["state"], len(office.starts())) == ("crashed", 3)


def until_starts(office: Office, number: int) -> None:
    office.box.until_file("api.json", lambda _: len(office.starts()) >= number)


def until_resumed(office: Office) -> str:
    """The run that goes on with the first."""
    first = office.box.record("api")["run"]
    text = office.box.until_file("api.json", lambda text: json.loads(text)["again"] == first)
    return str(json.loads(text)["run"])


def test_one_that_is_killed_while_it_brings_it_back_is_carried_on_with(office: Office) -> None:
    office.begin("", "work")
    office.spawned(prompt="work")
    first = office.monitor("api", "--resume", "1")
    office.until_watched("working")
    kill(office.box.pids("api")[1], signal.SIGKILL)
    until_resumed(office)
    killed(first)  # while it waits for the prompt of the agent that it has resumed
    assert office.watch()["resumes"] == 0
    second = office.monitor("api", "--resume", "1")
    office.until_watched("working", monitor=[second.pid, start(second)])
    kill(office.box.pids("api")[1], signal.SIGKILL)
    assert second.end()["state"] == "crashed"
    assert len(office.starts()) == 2
