"""The screen cut into regions, and whether the agent is there at all."""

from __future__ import annotations

import pytest

from midwatch.agents import catalog, definition_file
from midwatch.agents.definition import find_agent, find_presence, is_newer_than_tested, split_regions
from midwatch.core.pane_model import ProcessInfo

FILE = """\
agent = "sample"
title = "Sample"
tested = ["1.9.0", "1.10.0"]

[process]
names = '^sample$|^(?:\\S*/)?node \\S*/sample(?: |$)'
not = '--daemon'

[[region]]
name = "box"
match = '^> .*'

[[region]]
name = "above"
above = "box"
else = "screen"

[[region]]
name = "below"
below = "box"
flat = true

[[region]]
name = "bare"
without = "box"
"""
DETECTOR = definition_file.read(FILE, "sample.toml")
SHELL = ProcessInfo(10, 1, "S", "bash", ("bash",), 0)


def task(name: str = "sample", args: str = "sample", letter: str = "S", pid: int = 11) -> ProcessInfo:
    return ProcessInfo(pid, 10, letter, name, tuple(args.split(" ")), 0)


def test_a_region_is_its_last_match_and_others_lie_around_it() -> None:
    texts, spans = split_regions(DETECTOR, ("> old", "said", "> new", "  a  b", "c", "", ""))
    assert texts == {
        "screen": "> old\nsaid\n> new\n  a  b\nc", "box": "> new", "above": "> old\nsaid", "below": "a b c",
    }  # fmt: skip
    assert spans["box"] == (2, 3)


def test_a_region_that_is_not_there_leaves_its_stand_in() -> None:
    texts, _ = split_regions(DETECTOR, ("no prompt", "here"))
    assert texts == {"screen": "no prompt\nhere", "above": "no prompt\nhere", "bare": "no prompt\nhere"}


def test_hard_blanks_are_blanks() -> None:
    texts, _ = split_regions(DETECTOR, (">\xa0new",))
    assert texts["box"] == "> new"


@pytest.mark.parametrize(
    ("tasks", "state"),
    [
        ((SHELL, task()), "alive"),
        ((SHELL, task("node", "node /opt/bin/sample --x")), "alive"),
        ((SHELL, task(letter="T")), "suspended"),
        ((SHELL, task(letter="T"), task(pid=12)), "alive"),
        ((SHELL, task(letter="Z")), "gone"),
        ((SHELL,), "gone"),
        ((SHELL, task("sample", "sample --daemon")), "gone"),
        ((SHELL, task("vim", "vim sample.md")), "gone"),
        ((SHELL, task("tail", "tail -f /opt/bin/sample")), "gone"),
        ((SHELL, task("ssh", "ssh host")), "unseen"),
    ],
)
def test_whether_the_agent_is_there(tasks: tuple[ProcessInfo, ...], state: str) -> None:
    assert find_presence(DETECTOR, tasks, "bash", dead=False).state == state


def test_without_a_process_list_the_foreground_command_tells() -> None:
    assert find_presence(DETECTOR, (), "bash", dead=False).state == "gone"
    assert find_presence(DETECTOR, (), "sample", dead=False).state == "unseen"
    assert find_presence(DETECTOR, (), "", dead=False).state == "unseen"


def test_a_dead_pane_has_no_agent() -> None:
    assert find_presence(DETECTOR, (SHELL, task()), "sample", dead=True).state == "gone"


def test_the_agent_nearest_to_the_shell_is_the_one_of_the_pane() -> None:
    known = catalog.load_all()
    outer = ProcessInfo(11, 10, "S", "claude", ("claude",), 0)
    inner = ProcessInfo(12, 11, "S", "codex", ("codex", "--no-daemon"), 0)
    found = find_agent(known, (SHELL, outer, inner))
    assert found is not None
    assert (found[0].agent, found[1].pid) == ("claude", 11)


def test_codex_daemon_is_not_codex() -> None:
    daemon = ProcessInfo(11, 10, "S", "codex", ("codex", "app-server", "--listen", "unix://", "--managed-daemon"), 0)
    assert find_agent(catalog.load_all(), (SHELL, daemon)) is None


def test_a_version_newer_than_any_tested_is_drift() -> None:
    assert is_newer_than_tested(DETECTOR, "1.11.0")
    assert not is_newer_than_tested(DETECTOR, "1.10.0")
    assert not is_newer_than_tested(DETECTOR, "1.2.0")
    assert not is_newer_than_tested(DETECTOR, "")
