"""The table `[start]` of an agent's file, and the command lines that it gives."""

from __future__ import annotations

import pytest

from midwatch.agents import catalog, definition_file, launch
from midwatch.agents.launch import LaunchRules
from midwatch.core.errors import FormatError

BEGIN = """agent = "sample"
title = "Sample"

[process]
names = "^sample$"
"""
START = LaunchRules(
    ("sample", "--quiet"), ("--model={model}",), ("--id", "{conversation}"), ("resume", "{conversation}"), ("-p",)
)


def test_it_is_read() -> None:
    text = f"""{BEGIN}
[start]
command = ["sample", "--quiet"]
model = ["--model={{model}}"]
named = ["--id", "{{conversation}}"]
resume = ["resume", "{{conversation}}"]
headless = ["-p"]
"""
    assert definition_file.read(text, "sample.toml").start == START


def test_without_it_nobody_starts_it() -> None:
    assert definition_file.read(BEGIN, "sample.toml").start is None


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("", "command"),
        ("command = []", "command must name a program"),
        ("command = 'sample'", "command"),
        ("command = ['sample']\nresume = ['--last']", "resume must hold {conversation}"),
        ("command = ['sample']\nnamed = ['--id']", "named must hold {conversation}"),
        ("command = ['sample']\nmodel = ['--model']", "model must hold {model}"),
        ("command = ['sample']\nresum = ['{conversation}']", "resum"),
        ("command = ['sample', 5]", "command"),
    ],
)
def test_what_is_wrong_with_it_is_said_with_its_line(lines: str, said: str) -> None:
    with pytest.raises(FormatError, match=r"^sample.toml:\d+: ") as error:
        definition_file.read(f"{BEGIN}\n[start]\n{lines}\n", "sample.toml")
    assert said in str(error.value)


def test_a_new_conversation_gets_the_id_that_was_chosen() -> None:
    given = launch.start_options(START, "m1", ("-x",))
    assert given == ("--model=m1", "-x")
    assert launch.begin_command(START, "c1", given) == ["sample", "--quiet", "--id", "c1", "--model=m1", "-x"]
    assert launch.begin_command(START, "c1", (), headless=True) == ["sample", "--quiet", "-p", "--id", "c1"]
    assert launch.begin_command(START, "", ()) == ["sample", "--quiet"]


def test_a_resumed_one_is_exactly_that_one_with_what_was_asked_for() -> None:
    assert launch.resume_command(START, "c1", ("--model=m1",)) == ["sample", "--quiet", "resume", "c1", "--model=m1"]


def test_no_agent_resumes_the_latest() -> None:
    found = [each for each in catalog.load_all() if each.start]
    assert len(found) >= 6
    for each in found:
        assert each.start is not None
        assert launch.CONVERSATION in " ".join(each.start.resume), each.agent
        assert not {"--last", "--continue", "-c"} & set(each.start.resume), each.agent
