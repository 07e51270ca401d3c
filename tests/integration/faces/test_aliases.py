"""Other words for verbs do what the verbs do."""

from __future__ import annotations

import pytest

from tests.conftest import Box
from tests.integration.wait.watching import Gate, finish, start, start_gated


@pytest.mark.parametrize("alias", ["ps", "status"])
def test_jobs_are_listed(box: Box, alias: str) -> None:
    start(box, "job", "true")
    assert box("wait", "job").code == 0
    assert box(alias, "--json").json["name"] == "job"


def test_follow_prints_until_the_job_has_ended(box: Box) -> None:
    gate = Gate(box.cwd / "gate")
    start_gated(box, gate, "job", "echo two")
    call = box.start("follow", "job")
    gate.say()
    assert finish(call).out == "two\n"
    gate.close()


def test_kill_stops_a_job(box: Box) -> None:
    start(box, "job", "sleep", "300")
    assert box("kill", "job", "--json").json["state"] == "stopped"


def test_help_of_an_alias_is_that_of_its_verb(box: Box) -> None:
    assert box("ps", "--help").out == box("ls", "--help").out == box("help", "ps").out


def test_a_wrong_option_of_an_alias_is_explained_for_its_verb(box: Box) -> None:
    assert box("ps", "--jsno").err.splitlines() == [
        "midwatch: ls has no option --jsno; did you mean --json?", "try `midwatch ls --help`",
    ]  # fmt: skip
