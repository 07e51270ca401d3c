"""`send --task`: the worker gets a line that works as it stands, with all names filled in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Box, Done
from tests.integration.handoff.conftest import Swarm
from tests.integration.send.conftest import Agent


@pytest.fixture
def worker(swarm: Swarm, tmp_path: Path) -> Agent:
    found = Agent(swarm.private, tmp_path / "worker", "swarm")
    found.pane = swarm.split()
    found.start_in(found.pane)
    swarm.private.until_shows(found.pane, "? for shortcuts")
    return found


def assigned(swarm: Swarm, worker: Agent, *words: str, by: str = "", **env: str) -> Done:
    """Given by whoever is in a pane; else by somebody outside."""
    where = swarm.within(by) if by else {}
    return swarm.box("send", worker.pane, "Do it.", "--task", "bd-1", *swarm.private.server, *words, **where | env)


def told(worker: Agent) -> str:
    """What the worker's agent has written down."""
    lines = [json.loads(line) for path in worker.directory.rglob("*.jsonl") for line in path.read_text().splitlines()]
    return str(next(line["message"]["content"] for line in lines if line["type"] == "user"))


def command(worker: Agent) -> str:
    """The hand-over line and its here-document, as the worker would paste them."""
    text = told(worker)
    return text[text.index("midwatch handoff") :].partition("\n\n")[0]


def test_the_line_works_when_it_is_pasted(swarm: Swarm, worker: Agent) -> None:
    done = assigned(swarm, worker, by=swarm.controller.pane)
    assert done.code == 0, done
    assert told(worker).startswith("Do it.\n\nThis is task bd-1.")
    script = swarm.box.cwd / "pasted.sh"
    script.write_text(command(worker))
    env = " ".join(f"{key}='{value}'" for key, value in swarm.box.env.items() if key != "MIDWATCH_HOME")
    swarm.private("send-keys", "-t", swarm.worker, f"env {env} bash {script}; echo code=$?", "Enter")
    swarm.private.until_shows(swarm.worker, "code=0")
    (sent,) = swarm.mail()
    assert (sent["subject"], sent["text"], sent["from"]) == ("bd-1: <short status>", "<report>\n", "pane0")
    assert b"<<<CHECK MAIL>>> pane0 bd-1 <short status> <<<END CHECK MAIL>>>" in swarm.controller.typed


def test_whoever_gives_the_work_is_told_if_it_is_an_agent(swarm: Swarm, worker: Agent) -> None:
    swarm.title(swarm.worker, "controller")
    assigned(swarm, worker, by=swarm.controller.pane)
    assert f" --controller {swarm.controller.pane} " in command(worker)


def test_work_that_a_person_gives_is_reported_to_the_controller(swarm: Swarm, worker: Agent) -> None:
    swarm.title(swarm.controller.pane, "✳ controller")
    assigned(swarm, worker, by=swarm.worker)
    assert f" --controller {swarm.controller.pane} " in command(worker)


def test_the_environment_names_whom_to_tell(swarm: Swarm, worker: Agent) -> None:
    assigned(swarm, worker, by=swarm.controller.pane, MIDWATCH_CONTROLLER="lead")
    assert " --controller lead " in command(worker)


def test_where_nobody_is_to_be_told_that_is_said(swarm: Swarm, worker: Agent) -> None:
    done = assigned(swarm, worker)
    assert done.code == 0
    assert "no pane is titled controller" in done.err
    assert "--controller" not in command(worker)


def test_the_directory_is_named_only_where_the_worker_would_look_elsewhere(swarm: Swarm, worker: Agent) -> None:
    del swarm.box.env["MIDWATCH_HOME"]
    swarm.box.cwd = worker.directory
    assigned(swarm, worker)
    assert "--dir" not in command(worker)


def test_a_worker_elsewhere_is_told_the_directory(swarm: Swarm, worker: Agent) -> None:
    del swarm.box.env["MIDWATCH_HOME"]
    (swarm.box.cwd / "other" / ".git").mkdir(parents=True)
    swarm.box.cwd = swarm.box.cwd / "other"
    assigned(swarm, worker)
    assert f" --dir {swarm.box.env['HOME']}/.local/state/midwatch/other-" in command(worker)


OWN = '[handoff]\ncommand = "report {task} {session} {pane} {controller}"\n'


def test_a_command_of_the_projects_own_is_told_to_nobody_before_it_is_trusted(swarm: Swarm, worker: Agent) -> None:
    (swarm.box.cwd / "midwatch.toml").write_text(OWN)
    done = assigned(swarm, worker, by=swarm.controller.pane)
    assert "its [handoff] command does not count" in done.err
    assert "midwatch handoff" in told(worker)


def test_a_project_has_a_command_of_its_own(swarm: Swarm, worker: Agent) -> None:
    (swarm.box.cwd / "midwatch.toml").write_text(OWN)
    shown = swarm.box("trust", "--yes")
    assert "line 2    handoff  report {task} {session} {pane} {controller}" in shown.out
    done = assigned(swarm, worker, by=swarm.controller.pane)
    assert done.code == 0, done
    assert told(worker).endswith(f"\n\nreport bd-1 swarm {worker.pane} {swarm.controller.pane}")


def test_what_is_no_task_is_said_and_nothing_typed(box: Box, swarm: Swarm, worker: Agent) -> None:
    done = box("send", worker.pane, "Do it.", "--task", "a b", *swarm.private.server)
    assert done.code == 2
    assert "--task 'a b' is no id of a task" in done.err
    assert worker.typed == b""
