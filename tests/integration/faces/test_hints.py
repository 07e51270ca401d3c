"""What is said when there is nothing to say: hints that lead on, and quiet when nobody reads."""

import os
import subprocess

import pytest

from tests.conftest import PATIENCE, Box
from tests.integration.wait.watching import start


def unread(box: Box, *arguments: str) -> tuple[int, str]:
    """A call whose reader has gone before it says a word: its exit code, and what it complains of."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        with box.start(*arguments, stdout=writer, stderr=subprocess.PIPE) as process:
            return process.wait(PATIENCE), process.communicate()[1]
    finally:
        os.close(writer)


@pytest.mark.parametrize("arguments", [("--help",), ("help", "wait"), ("wait", "--help"), ("--version",)], ids=" ".join)
def test_help_that_nobody_reads_ends_quietly(box: Box, arguments: tuple[str, ...]) -> None:
    assert unread(box, *arguments) == (141, "")


def test_a_listing_that_nobody_reads_ends_quietly(box: Box) -> None:
    start(box, "job", "true")
    assert unread(box, "ls") == (141, "")


def test_without_standard_output_help_says_nothing_and_is_no_error(box: Box) -> None:
    closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *box.program, "--help"], env=box.env, check=False)
    assert closed.returncode == 0


@pytest.mark.parametrize(("jobs", "says"), [(0, "no jobs exist"), (1, "1 job exists"), (2, "2 jobs exist")])
def test_a_name_that_is_not_there_is_said_with_how_many_are(box: Box, jobs: int, says: str) -> None:
    for number in range(jobs):
        start(box, f"job-{number}", "true")
    done = box("wait", "nope")
    assert (done.code, "no job nope" in done.out, says in done.out) == (7, True, True), done


def test_monitor_suggests_how_a_session_of_tmux_is_named(box: Box) -> None:
    done = box("monitor", "hand")
    assert (done.code, "`midwatch monitor =hand`" in done.out) == (7, True), done


def test_an_empty_listing_mentions_agents_in_panes(box: Box) -> None:
    done = box("ls")
    assert (done.code, "`midwatch ls --panes` lists agents in panes" in done.err) == (0, True), done


@pytest.mark.parametrize("home", ["given", "of the project"])
@pytest.mark.parametrize("verb", [("trust",), ("task", "list"), ("verify", "x"), ("run", "--", "true")], ids=" ".join)
def test_that_the_current_directory_was_removed_is_said(box: Box, verb: tuple[str, ...], home: str) -> None:
    if home != "given":
        del box.env["MIDWATCH_HOME"]
    gone = box.cwd / "gone"
    gone.mkdir()
    command = f'cd "{gone}" && rmdir "{gone}" && exec "$@"'
    box.program = ["sh", "-c", command, "sh", *box.program]
    done = box(*verb)
    told = "midwatch: the current directory was removed; change to one that is there\n"
    assert (done.code, done.err) == (125 if verb[0] == "run" else 12, told)
