"""Steps whose names hold blanks: others may call theirs so, and together with its directory each can be named."""

from pathlib import Path

import pytest

import midwatch
from tests.conftest import Box, alive
from tests.integration.foreign.template import wrapped
from tests.integration.wait.watching import Gate, finish, listed, waiter

STEP = "build all of it"


@pytest.fixture
def theirs(box: Box) -> Path:
    found = box.cwd / "their steps"
    found.mkdir(mode=0o700)
    return found


def test_it_is_listed_waited_for_and_explained(box: Box, theirs: Path, gate: Gate) -> None:
    there = ("--dir", str(theirs))
    with wrapped(box, STEP, f"read -r line < {gate.path}; echo hello >&2", theirs):
        assert listed(box, *there)[STEP]["state"] == "working"
        assert "is alive" in box("why", STEP, *there).out
        with waiter(box, STEP, *there) as process:
            gate.say()
            done = finish(process, 10)
    assert (done.code, done.json["name"], done.json["result"]) == (0, STEP, {"key": "value"})
    assert box("logs", STEP, *there).out == "hello\n"
    assert midwatch.wait(STEP, dir=theirs).state == midwatch.status(STEP, dir=theirs).state == "completed"


def test_it_is_stopped(box: Box, theirs: Path) -> None:
    with wrapped(box, STEP, "sleep 300", theirs) as pid:
        done = box("stop", STEP, "--dir", str(theirs), "--json")
        assert (done.code, done.json["state"], alive(pid)) == (0, "stopped", False)


def test_it_is_adopted_under_a_name_that_a_job_can_have(box: Box, theirs: Path) -> None:
    with wrapped(box, STEP, "sleep 300", theirs):
        assert box("adopt", "--dir", str(theirs), STEP).out == "build-all-of-it\n"
        assert box("adopt", "--dir", str(theirs), "--name", "again").out == "again\n"
        assert f"{STEP} in " in box("why", "build-all-of-it").out


def test_without_its_directory_it_is_no_name(box: Box) -> None:
    done = box("wait", STEP)
    assert (done.code, "give the directory of a script" in done.err) == (2, True)


@pytest.mark.parametrize("name", [" x", "x ", "a\tb", "a\nb", "a/b"])
def test_no_other_character_is_taken(box: Box, theirs: Path, name: str) -> None:
    assert box("wait", name, "--dir", str(theirs)).code == 2
