"""What a running agent was given, and how it is told to go on with that."""

from __future__ import annotations

import pytest

from midwatch.agents import launch
from midwatch.agents.launch import LaunchRules

START = LaunchRules(
    ("sample",), ("--model", "{model}"), ("--id", "{conversation}"), ("--resume", "{conversation}"), plain=("-p",)
)
ASKED = "Do it.\nNow."


@pytest.mark.parametrize(
    ("args", "given"),
    [
        (("sample", "-p", "--model", "m", ASKED), ("-p", "--model", "m", "{prompt}")),
        (("/usr/bin/node", "/opt/sample", ASKED, "--tools", "a", "b"), ("{prompt}", "--tools", "a", "b")),
        (("sample", "--id", "x1", "-p", ASKED), ("-p", "{prompt}")),
        (("sample", "-p", ASKED, "--resume", "x1"), ("-p", "{prompt}")),
        (("sample", "-p", "something else"), None),
        (("sample", "-p", ASKED, ASKED), None),
        (("other", "-p", ASKED), None),
        (("sample",), None),
    ],
)
def test_what_it_was_given_is_told_by_where_its_prompt_stands(
    args: tuple[str, ...], given: tuple[str, ...] | None
) -> None:
    assert launch.find_options(START, args, ASKED) == given


def test_a_task_without_a_prompt_tells_nothing() -> None:
    assert launch.find_options(START, ("sample", ""), "") is None


def test_the_prompt_is_put_where_it_stood() -> None:
    given = ("{prompt}", "--tools", "a", "b")
    assert launch.continue_command(START, (), "x1", given, "On.") == [
        "sample",
        "--resume",
        "x1",
        "On.",
        "--tools",
        "a",
        "b",
    ]
    assert launch.continue_command(START, (), "", given, "On.") == ["sample", "On.", "--tools", "a", "b"]


@pytest.mark.parametrize(
    ("args", "program"),
    [
        (("node", "/opt/sample", "-p"), ["node", "/opt/sample"]),
        (("/opt/sample",), ["/opt/sample"]),
        (("sample", "-p"), ["sample"]),
        (("bun", "cli.js"), ["sample"]),
    ],
)
def test_a_program_that_was_run_by_its_path_is_run_by_it_again(args: tuple[str, ...], program: list[str]) -> None:
    found = launch.continue_command(START, launch.program_words(START, args), "", ("{prompt}",), "On.")
    assert found == [*program, "On."]


@pytest.mark.parametrize(("model", "words"), [("m", ("-p", "--model", "m", "{prompt}")), ("", ("-p", "{prompt}"))])
def test_where_no_command_line_was_seen_the_agents_file_tells(model: str, words: tuple[str, ...]) -> None:
    assert launch.default_options(START, model) == words
