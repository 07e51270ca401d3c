"""What has a pane's terminal: a shell at its prompt, or anything else, and what is suspended behind it."""

from __future__ import annotations

import pytest

from midwatch.agents import catalog
from midwatch.core.pane_model import ProcessInfo
from midwatch.sessions.prompting.exited_agent import find_front, find_shell
from midwatch.sessions.prompting.rules.recovery import ForegroundProgram

CLAUDE = catalog.load("claude")
SHELL = ProcessInfo(10, 1, "S", "bash", ("-bash",), 1, foreground=True)
AGENT = ProcessInfo(20, 10, "T", "node", ("claude",), 2)
TOOL = ProcessInfo(21, 20, "T", "rg", ("rg", "x"), 3)


def test_a_shell_alone_in_front_is_at_its_prompt() -> None:
    assert find_shell((SHELL,)) is SHELL
    assert find_shell((SHELL._replace(letter="R"),)) is None
    assert find_shell((SHELL._replace(foreground=False),)) is None
    assert find_shell((SHELL, ProcessInfo(30, 10, "S", "git", ("git",), 4, foreground=True))) is None
    assert find_shell((SHELL._replace(name="vim"),)) is None


@pytest.mark.parametrize(
    ("arguments", "typed_to"),
    [
        (("bash",), True),
        (("-zsh",), True),
        (("bash", "--norc", "-i"), True),
        (("bash", "--rcfile", "mine", "-i"), True),
        (("bash", "--login"), True),
        (("bash", "script.sh"), False),
        (("bash", "-c", "read x"), False),
        (("sh", "-ec", "read x"), False),
    ],
)
def test_a_shell_that_runs_a_script_reads_no_lines_of_ours(arguments: tuple[str, ...], *, typed_to: bool) -> None:
    assert (find_shell((SHELL._replace(args=arguments),)) is not None) == typed_to


def test_the_suspended_agent_below_that_shell_can_be_woken_by_it() -> None:
    assert find_front((SHELL, AGENT, TOOL), "bash", CLAUDE) == ForegroundProgram("bash", prompt=True, owned=True)


def test_another_that_is_suspended_there_is_named() -> None:
    vim = ProcessInfo(40, 10, "T", "vim", ("vim",), 5)
    assert find_front((SHELL, AGENT, vim), "bash", CLAUDE) == ForegroundProgram(
        "bash", prompt=True, stopped=("vim (40)",), owned=True
    )


def test_an_agent_that_is_not_below_that_shell_is_not_its_own() -> None:
    inner = ProcessInfo(50, 10, "S", "bash", ("bash",), 6, foreground=True)
    outer = SHELL._replace(foreground=False)
    found = find_front((outer, AGENT, inner), "bash", CLAUDE)
    assert (found.prompt, found.owned) == (True, False)


def test_what_is_no_shell_is_named() -> None:
    less = ProcessInfo(60, 10, "S", "less", ("less",), 7, foreground=True)
    assert find_front((SHELL._replace(foreground=False), less), "less", CLAUDE) == ForegroundProgram("less")
    assert find_front((), "cat", None) == ForegroundProgram("cat")
