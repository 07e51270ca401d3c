"""Whether the process of a row's pane lives: a pid alone may be another's by now."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from midwatch.core.presence import GONE, LIVES, UNKNOWN
from midwatch.registry.model import RowPane
from midwatch.registry.row_process import find_process_state
from midwatch.system import processes, procfs
from tests.conftest import letter, until, until_gone
from tests.integration.reconcile.lookout import NAME, Lookout, pane_of

HERE = processes.current_place()


@contextmanager
def process(*command: str, cwd: str = "/", **environment: str) -> Iterator[int]:
    """A process that runs until the end of the block, with only these variables; its pid."""
    running = subprocess.Popen(command, cwd=cwd, env={"PATH": os.environ["PATH"], **environment}, stdin=subprocess.PIPE)
    try:
        until(lambda: procfs.read_text(f"/proc/{running.pid}/cmdline").split("\0")[0] == command[0])
        yield running.pid
    finally:
        running.kill()
        running.communicate()


def test_a_process_that_was_noted_with_its_start_is_known_by_that() -> None:
    with process("sleep", "1000") as pid:
        noted = RowPane(pid, start=procfs.start_time(pid), boot=HERE.boot)
        assert find_process_state(noted, "claude", HERE) == LIVES
        assert find_process_state(noted._replace(boot=""), "claude", HERE) == LIVES
        assert find_process_state(noted._replace(start=noted.start - 1), "claude", HERE) == GONE
        assert find_process_state(noted._replace(boot="another"), "claude", HERE) == GONE
    assert find_process_state(noted, "claude", HERE) == GONE


def test_a_row_without_a_pid_tells_nothing() -> None:
    assert find_process_state(RowPane(cmd="claude", cwd="/"), "claude", HERE) == UNKNOWN


def test_a_process_that_has_ended_and_was_not_waited_for_is_gone() -> None:
    running = subprocess.Popen(["true"])
    until(lambda: letter(running.pid) == "Z")
    noted = RowPane(running.pid, start=procfs.start_time(running.pid), boot=HERE.boot)
    assert find_process_state(noted, "", HERE) == GONE
    running.wait()


def test_without_a_start_it_is_known_by_its_directory(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    with process("sleep", "1000", cwd=str(tmp_path)) as pid:
        assert find_process_state(RowPane(pid, "claude", str(tmp_path)), "claude", HERE) == LIVES
        assert find_process_state(RowPane(pid, "claude", str(link)), "claude", HERE) == LIVES
        assert find_process_state(RowPane(pid, "claude", "/nowhere"), "claude", HERE) == GONE


def test_without_a_start_it_is_known_by_its_command_or_that_of_a_child() -> None:
    with process("sleep", "1000") as pid:
        assert find_process_state(RowPane(pid, "sleep"), "", HERE) == LIVES
        assert find_process_state(RowPane(pid, "/usr/bin/sleep", "/nowhere"), "", HERE) == LIVES
        assert find_process_state(RowPane(pid), "sleep", HERE) == LIVES
        assert find_process_state(RowPane(pid, "claude"), "claude", HERE) == GONE
    script = "import subprocess; subprocess.run(['sleep', '1000'])"
    with process(sys.executable, "-c", script, "claude") as pid:
        until(lambda: [procfs.command_name(child) for child in procfs.children(pid)] == ["sleep"])
        (child,) = procfs.children(pid)
        assert find_process_state(RowPane(pid, "sleep"), "", HERE) == LIVES
        assert find_process_state(RowPane(pid, "x"), "claude", HERE) == LIVES
        assert find_process_state(RowPane(pid, "x"), "y", HERE) == GONE
    os.kill(child, 9)
    until_gone(child)


@pytest.mark.parametrize(
    ("variables", "pane", "lives"),
    [
        ({"TMUX_PANE": "%3"}, "%3", UNKNOWN),
        ({"TMUX_PANE": "%3"}, "", UNKNOWN),
        ({"TMUX_PANE": "%4"}, "%3", GONE),
        ({}, "%3", GONE),
        ({}, "", GONE),
    ],
)
def test_a_shell_may_have_gone_elsewhere_if_it_is_in_a_pane(variables: dict[str, str], pane: str, lives: str) -> None:
    with process("sh", "-c", "read -r line; :", cwd="/", **variables) as pid:
        assert find_process_state(RowPane(pid, "claude", "/nowhere", pane), "claude", HERE) == lives


def test_a_process_in_a_pane_lives_and_ends_with_it(lookout: Lookout) -> None:
    lookout.workspace.tmux.start("cat", "other")
    lookout.session()
    noted = pane_of(lookout.found())
    rows = (
        lookout.row(pane=noted),
        lookout.row(at=1, pane=noted._replace(start=0, boot="")),
        lookout.row(at=2, pane=noted._replace(boot="another")),
        lookout.row(at=3),
    )
    assert lookout.observe(*rows).processes == {0: LIVES, 1: LIVES, 2: GONE, 3: UNKNOWN}
    lookout.workspace.tmux("kill-session", "-t", f"={NAME}")
    until_gone(noted.pid)
    assert lookout.observe(*rows).processes == {0: GONE, 1: GONE, 2: GONE, 3: UNKNOWN}


def test_a_process_lives_whatever_tmux_says(lookout: Lookout) -> None:
    """On a server that nobody has named."""
    pid = lookout.workspace.session(NAME, tmux=lookout.workspace.server("other"))
    row = lookout.row(pane=RowPane(pid, "claude"))
    until(lambda: lookout.observe(row).processes == {0: LIVES})
    assert lookout.observe(row).panes == ()
