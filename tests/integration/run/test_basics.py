import shlex

import pytest

from tests.conftest import Box


def test_a_job_that_succeeds_is_completed_and_says_so_once(box: Box) -> None:
    assert box("run", "-d", "--name", "ok", "--", "true").out == "ok\n"
    done = box("wait", "ok", "--json")
    assert done.code == 0
    assert done.json["state"] == "completed"
    assert box.path("ok.status").read_text() == "SUCCESS\n"


@pytest.mark.parametrize("options", [(), ("-d",), ("--json",)], ids=str)
def test_a_line_for_a_shell_given_as_one_word_gets_advice(box: Box, options: tuple[str, ...]) -> None:
    done = box("run", *options, "--", "make && echo it's done")
    assert done.code == 127
    advice = "midwatch: if a shell is to read that: midwatch run -- "
    [hint] = [line.removeprefix(advice) for line in done.err.splitlines() if line.startswith(advice)]
    assert shlex.split(hint) == ["sh", "-c", "make && echo it's done"]


@pytest.mark.parametrize("command", [("nosuchprogram",), ("nosuchprogram", "a && b")], ids=str)
def test_a_program_that_is_not_there_is_no_line_for_a_shell(box: Box, command: tuple[str, ...]) -> None:
    done = box("run", "--", *command)
    assert done.code == 127
    assert "sh -c" not in done.err
