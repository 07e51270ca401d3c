"""A turn that has ended is worth what the verifier says."""

from __future__ import annotations

import signal

from tests.conftest import kill
from tests.integration.spawn.office import Office

INCOMPLETE = 6


def test_idle_without_the_work_is_incomplete_and_with_it_completed(office: Office) -> None:
    office.spawned("api", "--verify", "file:made", prompt="say")
    found = office.monitor("api").end()
    assert (found["state"], found["final"], found["code"]) == ("incomplete", True, INCOMPLETE)
    assert "but the work is not there: there is no made" in found["reason"]
    (office.box.cwd / "made").write_text("x")
    found = office.monitor("api").end()
    assert (found["state"], found["code"]) == ("completed", 0)
    assert found["reason"].endswith("; verified: made is there")


def test_who_watches_may_ask_for_something_else(office: Office) -> None:
    office.spawned("api", "--verify", "false", prompt="say")
    assert office.monitor("api", "--verify", "true").end()["state"] == "completed"


def test_what_waits_or_failed_is_not_verified(office: Office) -> None:
    office.spawned("api", "--verify", "touch asked", prompt="ask")
    assert office.monitor("api").end()["state"] == "waiting"
    assert not (office.box.cwd / "asked").exists()


def test_work_of_the_run_before_a_resume_counts(office: Office) -> None:
    office.spawned("api", "--verify", "file:made", prompt="work")
    (office.box.cwd / "made").write_text("x")
    kill(office.box.pids("api")[1], signal.SIGKILL)
    office.box("wait", "api")
    assert office.box("resume", "api", "--prompt", "say").code == 0
    assert office.monitor("api").end()["state"] == "completed"
