"""Whom a monitor has told: on ends, on what needs a person, and when it gives up."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.conftest import kill, until
from tests.integration.monitor.test_monitor_resumes import limit
from tests.integration.notify.conftest import Notices
from tests.integration.spawn.office import Office


@pytest.fixture
def notices(office: Office) -> Iterator[Notices]:
    found = Notices(office.box, office.home)
    found.mine(found.command(fields='"{state}", "{name}"'))
    yield found
    for pid in found.tellers():
        kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("prompt", "state"), [("say hello", "completed"), ("ask", "waiting"), ("limit 5pm (UTC)", "limited")]
)
def test_what_it_says_is_told(office: Office, notices: Notices, prompt: str, state: str) -> None:
    office.spawned(prompt=prompt)
    office.monitor().end()
    until(lambda: bool(notices.delivered()))
    until(lambda: not notices.tellers())
    assert notices.delivered() == [[state, "api"]]


def test_that_it_gives_up_is_told(office: Office, notices: Notices) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor()
    office.until_watched("working")
    watcher.process.terminate()
    watcher.end()
    until(lambda: notices.delivered() == [["abandoned", "api"]])


def test_that_it_gives_up_again_is_told_again(office: Office, notices: Notices) -> None:
    office.spawned(prompt="work")
    for number in (1, 2):
        assert office.monitor("api", "--deadline", "1ms").end()["state"] == "abandoned"
        until(lambda number=number: notices.delivered() == [["abandoned", "api"]] * number)  # type: ignore[misc]
        until(lambda: not notices.tellers())


def test_a_crash_that_is_resumed_is_told_only_by_its_end(office: Office, notices: Notices) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor("api", "--resume", "1")
    office.until_watched("working")
    kill(office.box.pids("api")[1], signal.SIGKILL)
    assert watcher.end()["state"] == "completed"
    until(lambda: bool(notices.delivered()))
    until(lambda: not notices.tellers())
    assert notices.delivered() == [["completed", "api"]]


def test_of_a_session_that_is_closed_when_it_is_done_only_that_is_told(office: Office, notices: Notices) -> None:
    """Its shim, which is ended then, has a teller of its own."""
    office.spawned(prompt="say")
    assert office.monitor("api", "--cleanup").end()["state"] == "completed"
    until(lambda: bool(notices.delivered()))
    until(lambda: not notices.tellers())
    assert notices.delivered() == [["completed", "api"]]


def test_a_limit_that_a_monitor_waits_for_is_planned_until_it_gives_up(office: Office, notices: Notices) -> None:
    """Who wants only what needs a person hears nothing of it, but that the monitor gave up."""
    needs = notices.command(fields='"{state}"')
    notices.mine('level = "needs-you"\n' + needs)
    notices.projects('level = "all"\n' + notices.command(fields='"{text}"'))
    office.box.cwd.joinpath("midwatch.toml").write_text(notices.project_file.read_text())
    office.box.cwd.joinpath("midwatch.toml").chmod(0o644)
    assert office.box("trust", "--yes").code == 0
    office.spawned(prompt="limit 5pm (UTC)")
    watcher = office.monitor("api", "--on-limit", "wait", "--deadline", "48h")
    until(lambda: len(notices.delivered()) == 1)
    watcher.process.terminate()
    watcher.end()
    until(lambda: len(notices.delivered()) == 3 and not notices.tellers())
    first, *rest = notices.delivered()
    assert first[0].startswith("api hit a limit, until 5pm (UTC); it continues then ("), first
    assert ["abandoned"] in rest, rest


def test_a_limit_whose_plan_a_person_cancels_needs_that_person(office: Office, notices: Notices) -> None:
    notices.mine('level = "needs-you"\n' + notices.command(fields='"{state}"'))
    office.spawned("api", "--watch", prompt=limit(3900))
    office.until_watched("limited")
    until(lambda: any((office.box.dir / "outbox" / "told").glob("api.*")) and not notices.tellers())
    assert notices.delivered() == []
    assert office.box("limit", "api", "--cancel").code == 0
    until(lambda: notices.delivered() == [["limited"]])
