"""`midwatch resume`: the same conversation again, in its pane, unless it is somebody else's."""

from __future__ import annotations

import re
import signal

import pytest

from tests.conftest import alive, kill, letter, until, until_gone
from tests.integration.spawn.office import Office

REFUSED = 12


def ended(office: Office, by: int = signal.SIGKILL) -> dict[str, object]:
    """A session whose agent was killed; its record."""
    record = office.spawned("api", "--model", "opus", prompt="say hello")
    kill(office.box.pids("api")[1], by)
    office.box("wait", "api")
    until(lambda: office.pane("#{pane_dead}") == "1")
    return record


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_it_goes_on_with_exactly_its_conversation_in_its_pane(office: Office, by: int) -> None:
    before = ended(office, by)
    done = office.box("resume", "api", "--json")
    assert done.code == 0
    after = office.box.record("api")
    assert office.start(2)["argv"] == ["--resume", before["conversation"], "--model", "opus"]
    assert (after["pane"], after["again"], after["conversation"]) == (
        before["pane"], before["run"], before["conversation"],
    )  # fmt: skip
    assert office.typed().count(b"\r") == 1
    assert office.until_state("idle")["process"] == "alive"


def test_a_prompt_is_given_to_it(office: Office) -> None:
    ended(office)
    assert office.box("resume", "api", "--prompt", "ask").code == 0
    assert office.listed() == {"api": "waiting"}


def test_one_that_was_stopped_can_be_resumed_by_a_person(office: Office) -> None:
    office.spawned(prompt="work")
    office.box("stop", "api")
    assert office.box("resume", "api").code == 0
    until(lambda: len(office.starts()) == 2)


def test_a_new_pane_is_opened_where_the_old_one_is_gone(office: Office) -> None:
    before = ended(office)
    office.tmux.start("cat", "others")
    office.tmux("kill-session", "-t", "=api")
    assert office.box("resume", "api").code == 0
    assert office.box.record("api")["pane"]["id"] != before["pane"]["id"]  # type: ignore[index]
    assert office.sessions() == ["api", "others"]


def test_a_name_that_somebody_took_meanwhile_is_his(office: Office) -> None:
    office.tmux.start("cat", "others")
    before = ended(office)
    office.tmux("kill-session", "-t", "=api")
    office.tmux.start("cat", "api")
    done = office.box("resume", "api")
    assert done.code == REFUSED
    assert "it is not ours, so it is left alone" in done.err
    assert office.box.record("api")["run"] == before["run"]
    assert len(office.starts()) == 1


def test_it_is_refused_while_it_runs(office: Office) -> None:
    office.spawned(prompt="work")
    done = office.box("resume", "api")
    assert done.code == REFUSED
    assert "api is working (" in done.err
    assert "`midwatch stop api` ends it first" in done.err
    assert len(office.starts()) == 1


def test_a_suspended_one_is_woken_and_not_started_twice(office: Office) -> None:
    office.spawned(prompt="work")
    _, work = office.box.pids("api")
    kill(work, signal.SIGSTOP)
    office.until_state("waiting")
    assert office.box("resume", "api").code == 0
    assert letter(work) != "T"
    assert len(office.starts()) == 1


def test_a_suspended_one_is_woken_and_given_its_prompt(office: Office) -> None:
    office.spawned(prompt="say hello")
    kill(office.box.pids("api")[1], signal.SIGSTOP)
    office.until_state("waiting")
    assert office.box("resume", "api", "--prompt", "ask").code == 0
    assert office.listed() == {"api": "waiting"}


def test_two_at_once_start_one(office: Office) -> None:
    ended(office)
    both = [office.box.start("resume", "api") for _ in range(2)]
    said = [each.communicate(timeout=60)[1] for each in both]
    assert sorted(each.returncode for each in both) == [0, REFUSED], said
    until(lambda: len(office.starts()) == 2)
    assert office.sessions() == ["api"]


def test_what_is_left_of_it_is_ended_first(office: Office) -> None:
    office.spawned(prompt="child")
    child = int((office.notes / "child").read_text())
    for pid in office.box.pids("api"):
        kill(pid, signal.SIGKILL)
        until_gone(pid)
    assert alive(child)
    assert office.box("resume", "api").code == 0
    assert not alive(child)
    until(lambda: len(office.starts()) == 2)


def test_there_may_be_no_such_session(office: Office) -> None:
    assert office.box("resume", "nobody").code == 7


def test_a_job_is_run_again_by_another_verb(office: Office) -> None:
    office.box("run", "--name", "job", "--", "true")
    done = office.box("resume", "job")
    assert done.code == REFUSED
    assert "`midwatch retry job` runs a job again" in done.err


def test_who_has_begun_anew_goes_on_with_the_new_conversation(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    office.begin("anew")
    first = str(office.spawned()["conversation"])
    office.until_state("idle")
    _, second = office.box.until_file("api.conversation").split()
    assert second != first
    agent = office.box.pids("api")[1]
    assert agent in office.holders(second, monkeypatch)
    kill(agent, signal.SIGKILL)
    office.box("wait", "api")
    until(lambda: office.pane("#{pane_dead}") == "1")
    assert office.box("resume", "api").code == 0
    until(lambda: len(office.starts()) == 2)
    assert office.starts()[1]["argv"][:2] == ["--resume", second]


def test_what_could_not_be_resumed_is_not_ended_for_it(office: Office) -> None:
    office.spawned(prompt="work")
    record = office.box.path("api.json")
    record.write_text(re.sub(r'"cwd": "[^"]*"', '"cwd": "/gone"', record.read_text()))
    found = office.monitor("api", "--resume", "1", "--stale", "1s", "--grace", "1s").end()
    assert found["state"] == "stuck"
    assert "not resumed: there is no directory /gone any more" in found["reason"]
    assert alive(office.box.pids("api")[1])


def test_an_agent_is_not_run_again_as_a_job(office: Office) -> None:
    ended(office)
    done = office.box("retry", "api")
    assert done.code == REFUSED
    assert "`midwatch resume api` starts it again" in done.err
    assert len(office.starts()) == 1
