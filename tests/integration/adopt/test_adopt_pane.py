"""Taking over an agent that somebody started in a pane of his own."""

from __future__ import annotations

import signal

from tests.conftest import alive, kill, until, until_gone
from tests.integration.monitor.test_monitor_others import on, opened
from tests.integration.spawn.office import Office

REFUSED = 12


def test_it_is_a_session_of_that_name_and_stays_where_it_is(office: Office) -> None:
    pane = opened(office, "ask", shell=True)
    until(lambda: "Do you want" in office.shown("work"))
    before = office.tmux("list-panes", "-a")
    done = office.box("adopt", pane, "--name", "api", *on(office))
    assert done.code == 0, done
    record = office.box.record("api")
    assert (record["kind"], record["agent"], record["conversation"]) == ("session", "claude", office.conversation)
    assert (record["pane"]["id"], record["pane"]["session"]) == (pane, "work")
    assert record["work"]["pid"] == office.start(1)["pid"]
    assert office.listed() == {"api": "waiting"}
    assert office.state("api")["detail"] == "permission"
    assert office.tmux("list-panes", "-a") == before
    assert office.typed() == b""


def test_without_a_name_it_is_called_as_its_session(office: Office) -> None:
    pane = opened(office)
    assert office.box("adopt", pane, *on(office)).code == 0
    assert list(office.listed()) == ["work"]


def test_it_can_be_monitored_and_its_session_closed(office: Office) -> None:
    pane = opened(office, "work")
    office.tmux.start("cat", "work-2")
    assert office.box("adopt", pane, "--name", "api", *on(office)).code == 0
    watcher = office.monitor("api", "--cleanup")
    office.until_watched("working")
    office.go()
    assert watcher.end()["state"] == "completed"
    assert office.sessions() == ["work-2"]
    assert office.listed() == {"api": "completed"}


def test_ending_its_monitor_or_its_keeper_leaves_it(office: Office) -> None:
    pane = opened(office, "work")
    office.box("adopt", pane, "--name", "api", *on(office))
    watcher = office.monitor()
    office.until_watched("working")
    watcher.process.terminate()
    assert watcher.end()["state"] == "abandoned"
    keeper, work = office.box.pids("api")
    kill(keeper, signal.SIGKILL)
    until_gone(keeper)
    assert alive(work)
    assert office.state()["process"] == "unsupervised"


def test_it_is_brought_back_in_a_session_of_ours(office: Office) -> None:
    pane = opened(office, "work", shell=True)
    office.box("adopt", pane, "--name", "api", *on(office))
    watcher = office.monitor("api", "--resume", "1")
    office.until_watched("working")
    kill(office.start(1)["pid"], signal.SIGKILL)
    end = watcher.end()
    assert end["state"] == "completed", end["reason"]
    assert office.start(2)["argv"] == ["--resume", office.conversation]
    assert office.sessions() == ["api", "work"]
    assert office.tmux("display-message", "-p", "-t", pane, "#{pane_current_command}") == "bash\n"


def test_it_can_be_stopped_by_a_person(office: Office) -> None:
    pane = opened(office, "work", shell=True)
    office.box("adopt", pane, "--name", "api", *on(office))
    assert office.box("stop", "api").code == 0
    until_gone(office.start(1)["pid"])
    assert office.listed() == {"api": "stopped"}
    assert office.sessions() == ["work"]


def test_only_a_pane_with_an_agent_can_be_adopted_and_only_once(office: Office) -> None:
    pane = opened(office, "work")
    other = office.tmux.start("cat", "other")
    done = office.box("adopt", other, *on(office))
    assert done.code == REFUSED
    assert f"no agent in pane {other} there" in done.err
    assert office.box("adopt", "%999", *on(office)).code == REFUSED
    assert office.box("adopt", pane, "--name", "api", *on(office)).code == 0
    assert office.box("adopt", pane, "--name", "api", *on(office)).code == REFUSED
    assert office.box("adopt", pane, other, *on(office)).code == 2
