"""All subjects at one moment: jobs, sessions, panes, rows of the registry, and the children of each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.conftest import Box, until
from tests.integration.api.programs import program, said
from tests.integration.reconcile.workspace import Workspace
from tests.integration.spawn.office import Office
from tests.integration.wait.watching import start

SHOW = """
    for each in midwatch.snapshot().subjects:
        print(json.dumps([each.id, each.parent, each.kind, each.verdict.state, each.about]))
"""


def listed(box: Box) -> dict[str, dict[str, Any]]:
    return {each["id"]: each for each in map(json.loads, box("ls", "--children", "--json").out.splitlines())}


def sub_agent(office: Office, name: str, *lines: Mapping[str, object]) -> None:
    """What a sub-agent of the session's conversation has written."""
    conversation = office.box.record("api")["conversation"]
    place = office.home / "claude" / "projects" / re.sub(r"[^0-9A-Za-z]", "-", str(office.cwd)) / conversation
    (place / "subagents").mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps({"isSidechain": True, "cwd": str(office.cwd), **line}) + "\n" for line in lines)
    (place / "subagents" / f"agent-{name}.jsonl").write_text(text)


PROMPT = {"type": "user", "message": {"role": "user", "content": "look"}}
CALL = {"type": "assistant", "message": {"id": "m", "content": [{"type": "tool_use", "id": "t", "name": "Grep"}]}}
END = {
    "type": "assistant",
    "message": {"id": "n", "stop_reason": "end_turn", "content": [{"type": "text", "text": "Done."}]},
}


def test_attempts_are_children_of_their_job(box: Box) -> None:
    start(box, "job", "false", options=("--retries", "1", "--backoff", "0.1"))
    start(box, "once", "true")
    assert box("wait", "job", "once").code == 1
    found = listed(box)
    assert list(found) == ["job/job", "job/job/attempt/1", "job/job/attempt/2", "job/once"]
    children = [found[f"job/job/attempt/{number}"] for number in (1, 2)]
    assert [(each["parent"], each["kind"], each["state"], each["exit_code"]) for each in children] == [
        ("job/job", "attempt", "failed", 1)
    ] * 2
    rows = box("ls", "--children").out.splitlines()
    assert [row.split()[:2] for row in rows[1:]] == [
        ["job", "failed"], ["attempt", "job/1"], ["attempt", "job/2"], ["once", "completed"]
    ]  # fmt: skip


def test_without_children_a_listing_is_as_it_was(box: Box) -> None:
    start(box, "job", "false", options=("--retries", "1", "--backoff", "0.1"))
    assert box("wait", "job").code == 1
    listed_line, waited = box("ls", "--json"), box("wait", "job", "--json")
    assert (len(listed_line.out.splitlines()), waited.json.items() <= listed_line.json.items()) == (1, True)


def test_sub_agents_and_shells_are_children_of_their_session(office: Office) -> None:
    office.spawned(prompt="command")
    office.until_state("working")
    sub_agent(office, "a1", PROMPT, CALL)
    sub_agent(office, "b2", PROMPT, CALL, END)
    until(lambda: len(listed(office.box)) == 4)
    found = listed(office.box)
    states = {each["name"]: (each["parent"], each["kind"], each["state"]) for each in found.values()}
    assert states["api/a1"] == ("session/api", "sub-agent", "working")
    assert states["api/b2"] == ("session/api", "sub-agent", "completed")
    (shell,) = [each for each in found.values() if each["kind"] == "shell"]
    assert (shell["parent"], shell["state"]) == ("session/api", "working")
    assert "sleep 600" in shell["reason"]
    assert {each["agent"] for each in found.values()} == {"claude"}


def test_panes_and_rows_are_subjects_each_once(workspace: Workspace) -> None:
    workspace.session("lab")
    workspace.write("lab:\n  status: running\n  agent: claude\ngone:\n  status: stopped\n")
    start(workspace.box, "job", "true")
    assert workspace.box("wait", "job").code == 0
    found = [json.loads(line) for line in said(program(workspace.box, SHOW))]
    pane = next(each[0] for each in found if each[2] == "pane")
    assert [(each[0], each[2]) for each in found] == [
        ("job/job", "job"), (pane, "pane"), ("row/lab", "row"), ("row/gone", "row")
    ]  # fmt: skip
    assert [each[4] for each in found] == ["", "", pane, ""]
    assert found[1][3] == found[2][3]
    assert found[3][3] == "stopped"


def test_the_pane_of_a_session_is_no_second_subject(office: Office) -> None:
    office.spawned(prompt="ask")
    office.until_state("waiting")
    server = json.dumps(["-S", str(office.tmux.socket)])
    script = f"""
        from midwatch.api import subjects
        from midwatch.subjects.model import SubjectScope
        service = subjects._open_service(None, panes=False, children=False)
        service.scope = SubjectScope((tuple({server}),))
        print([(each.id, each.verdict.state) for each in service.snapshot().subjects])
        service.close()
    """
    assert said(program(office.box, script)) == ["[('session/api', 'waiting')]"]


def test_what_ls_and_why_say_is_what_the_snapshot_says(office: Office) -> None:
    office.spawned(prompt="ask")
    live = office.until_state("waiting")
    found = listed(office.box)["session/api"]
    assert office.listed() == {"api": "waiting"}
    assert (found["state"], found["cause"], found["reason"]) == (live["state"], live["cause"], live["reason"])


def test_a_listing_of_jobs_loads_neither_tmux_nor_agents(here: Box) -> None:
    start(here, "job", "true")
    assert here("wait", "job").code == 0
    script = """
        print(len(midwatch.snapshot(panes=False).subjects))
        print([name for name in sys.modules if name.startswith(("midwatch.agents", "midwatch.sessions"))])
    """
    assert said(program(here, script))[0] == "1"
