"""`ready`: only a confirmed prompt is ready; what else there is, is told, and nothing is typed."""

from __future__ import annotations

import json

import pytest

from midwatch.agents import catalog
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import recover
from tests.conftest import Box, until
from tests.integration.ready.conftest import Desk, told
from tests.integration.send.conftest import attached
from tests.integration.spawn.office import Office


def test_an_agent_at_its_prompt_is_ready(desk: Desk) -> None:
    desk.begin()
    before = desk.typed
    found = told(done := desk.ready())
    assert done.code == 0, done
    assert (found["ready"], found["outcome"], found["agent"], found["pane"]) == (True, "ready", "claude", desk.pane)
    plain = desk.office.box("ready", "=desk", *desk.tmux.server)
    assert (plain.code, plain.err) == (0, "")
    assert plain.out.startswith("=desk (claude): ready: "), plain
    assert desk.typed == before


def test_whoever_knows_the_agent_remembers_its_conversation(desk: Desk) -> None:
    """As a watchdog does, which looks again and again: then no last words are needed."""
    desk.begin()
    panes = PaneObserver(catalog.load_all(), "/nowhere", desk.tmux.server)
    assert recover.check_readiness(panes, desk.pane, directory="/nowhere").ready
    desk.leave()
    desk.run("clear")
    until(lambda: [row.strip() for row in desk.rows] == ["here$"])
    found = recover.check_readiness(panes, desk.pane, directory="/nowhere")
    panes.close()
    assert (found.ready, found.agent, found.step) == (False, "claude", "resume"), found
    assert desk.office.conversation in found.reason


def test_a_pane_without_an_agent_is_told(desk: Desk) -> None:
    done = desk.ready()
    assert (done.code, told(done)["outcome"], told(done)["recover"]) == (7, "exited", None), done
    assert told(done)["reason"] == "no agent is in it, but bash"


def test_a_pane_that_is_not_there_is_told(desk: Desk) -> None:
    done = desk.ready(target="%77")
    assert (done.code, told(done)["reason"]) == (7, "there is no such pane"), done


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "needs one target"),
        (["%0", "%1"], "needs one target"),
        (["%0", "--any"], "needs one target"),
        (["%0", "--session", "a"], "--session lists panes"),
        (["--session", "a", "--recover"], "takes one target"),
        (["no/name"], "no/name"),
    ],
)
def test_what_cannot_be_asked_is_a_usage_error(box: Box, arguments: list[str], says: str) -> None:
    done = box("ready", *arguments)
    assert (done.code, done.out) == (2, ""), done
    assert says in done.err


def test_a_name_that_nobody_has_is_told(office: Office) -> None:
    done = office.box("ready", "night", "--json")
    assert (done.code, told(done)["outcome"]) == (7, "exited"), done
    assert office.box("run", "--name", "night", "--", "true").code == 0
    done = office.box("ready", "night", "--json")
    assert (done.code, told(done)["outcome"]) == (12, "refused"), done


def test_a_session_of_ours_is_meant_by_its_name(office: Office) -> None:
    office.spawned("api", prompt="say hello")
    done = office.box("ready", "api", "--json")
    assert (done.code, told(done)["agent"]) == (0, "claude"), done


def test_a_name_whose_pane_is_anothers_by_now_is_nobody(office: Office) -> None:
    office.spawned("api", prompt="say hello")
    pane = office.box.record("api")["pane"]["id"]
    office.tmux("respawn-pane", "-k", "-t", pane, "exec cat")
    until(lambda: office.pane("#{pane_current_command}") == "cat")
    done = office.box("ready", "api", "--recover", "--json")
    assert (done.code, told(done)["outcome"]) == (7, "exited"), done
    assert "not in its pane any more" in told(done)["reason"]


# All panes of a session ---------------------------------------------------------------------------------------------


def listed(desk: Desk, *options: str) -> dict[str, dict[str, object]]:
    done = desk.office.box("ready", "--session", "desk", *desk.tmux.server, "--json", *options)
    return {each["pane"]: each for each in map(json.loads, done.out.splitlines())}


def test_all_panes_of_all_windows_of_exactly_that_session_are_listed(desk: Desk) -> None:
    desk.begin()
    beside = desk.tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", desk.pane, "cat").strip()
    further = desk.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=desk:", "cat").strip()
    desk.tmux.start("cat", "desk-2")
    found = listed(desk)
    assert {pane: each["outcome"] for pane, each in found.items()} == {
        desk.pane: "ready", beside: "exited", further: "exited",
    }  # fmt: skip
    assert desk.office.box("ready", "--session", "desk", "--any", *desk.tmux.server).out == f"{desk.pane}\n"
    table = desk.office.box("ready", "--session", "desk", *desk.tmux.server)
    assert (table.code, len(table.out.splitlines())) == (0, 3), table
    assert "not ready (exited)" in table.out


def test_the_pane_that_a_person_is_in_is_marked_and_not_offered(desk: Desk) -> None:
    desk.begin()
    other = desk.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=desk:", "cat").strip()
    with attached(desk.tmux, "attach", "-t", "=desk"):
        assert {pane: each["person"] for pane, each in listed(desk).items()} == {desk.pane: True, other: False}
        done = desk.office.box("ready", "--session", "desk", "--any", *desk.tmux.server)
        assert (done.code, done.out) == (12, ""), done
        assert f"{desk.pane} person" in done.err
        table = desk.office.box("ready", "--session", "desk", *desk.tmux.server).out.splitlines()
        assert [" you " in row for row in table] == [True, False], table
        desk.tmux("select-window", "-t", other)
        assert listed(desk, "--any").keys() == {desk.pane}


def test_a_program_that_looks_on_is_no_person(desk: Desk) -> None:
    desk.begin()
    with attached(desk.tmux, "-C", "attach", "-t", "=desk"):
        assert desk.ready().code == 0


def test_no_such_session_is_told(desk: Desk) -> None:
    for name in ("des", "desk-2"):
        done = desk.office.box("ready", "--session", name, *desk.tmux.server)
        assert (done.code, done.out) == (7, ""), done
        assert f"there is no session '{name}'" in done.err


def test_no_server_is_told_and_none_is_started(office: Office) -> None:
    socket = office.home / "none"
    assert office.box("ready", "--session", "a", "-S", str(socket)).code == 12
    assert office.box("ready", "%0", "-S", str(socket)).code == 7
    assert not socket.exists()
