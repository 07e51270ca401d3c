"""The processes of a pane, as they are now."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from midwatch.core.pane_model import ProcessInfo
from midwatch.system import process_tree, procfs
from midwatch.system.process_tree import ProcessTrees
from tests.conftest import kill, letter, tool, until, until_gone
from tests.integration.panes.private import Private

Start = Callable[..., int]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a command; at the end everything below it is ended."""
    begun: list[subprocess.Popen[bytes]] = []

    def run(*command: str, **how: object) -> int:
        begun.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **how))  # type: ignore[call-overload]
        return begun[-1].pid

    yield run
    for process in begun:
        for pid in [*reversed(procfs.descendants(process.pid)), process.pid]:
            kill(pid, signal.SIGKILL)
        process.communicate()


def named(tasks: tuple[ProcessInfo, ...]) -> list[str]:
    return [task.name for task in tasks]


def settled(found: ProcessTrees, pid: int, *names: str) -> tuple[ProcessInfo, ...]:
    until(lambda: sorted(named(found.below(pid))) == sorted(names))
    return found.below(pid)


def test_a_tree_is_told_from_its_root_down(start: Start) -> None:
    pid = start("bash", "-c", "sleep 600 & (sleep 601 & wait) & wait")
    tasks = settled(ProcessTrees(), pid, "bash", "bash", "sleep", "sleep")
    assert (tasks[0].pid, tasks[0].parent) == (pid, os.getpid())
    seen = {os.getpid()}
    for task in tasks:
        assert task.parent in seen
        assert task.start == procfs.start_time(task.pid)
        assert task.letter in "SR"
        seen.add(task.pid)
    assert sorted(task.args for task in tasks if task.name == "sleep") == [("sleep", "600"), ("sleep", "601")]


def test_children_of_threads_are_children(start: Start) -> None:
    script = "import threading, subprocess\nthreading.Thread(target=subprocess.run, args=(['sleep', '600'],)).start()"
    pid = start(sys.executable, "-c", script)
    assert settled(ProcessTrees(), pid, procfs.command_name(pid), "sleep")[1].args == ("sleep", "600")


def test_without_a_list_of_children_they_are_found_by_their_parent(start: Start) -> None:
    pid = start("bash", "-c", "sleep 600 & sleep 601 & wait")
    settled(ProcessTrees(), pid, "bash", "sleep", "sleep")
    assert (
        sorted(process_tree.children_by_parent(pid))
        == sorted(process_tree.children(pid, "1"))
        == sorted(procfs.children(pid))
    )


@pytest.mark.parametrize("after", ["exec bash -c 'read y; :' again", "exec sleep 600"])
def test_a_process_that_becomes_another_program_is_seen_to(start: Start, after: str) -> None:
    """Same pid, same start, perhaps the same name."""
    pid = start("bash", "-c", f"read x; {after}")
    found = ProcessTrees()
    until(lambda: procfs.command_name(pid) == "bash" and letter(pid) == "S")
    assert found.below(pid)[0].args[2] == f"read x; {after}"
    with open(f"/proc/{pid}/fd/0", "w", encoding="ascii") as stdin:
        stdin.write("\n")
    wanted = tuple(shlex.split(after)[1:])
    until(lambda: found.below(pid)[0].args == wanted)
    assert found.below(pid)[0].name == wanted[0]


def test_arguments_are_told_as_they_were_given(start: Start) -> None:
    odd = ("bash", "-c", "read x", "two words", "", "new\nline", "é", "日本")
    pid = start(*odd)
    until(lambda: procfs.command_name(pid) == "bash")
    assert ProcessTrees().below(pid)[0].args == odd


def test_a_title_in_place_of_arguments_is_told_without_what_is_left_of_them(start: Start) -> None:
    pid = start(tool("perl"), "-e", "$0 = 'agent'; sleep 600", "x" * 50)
    until(lambda: ProcessTrees().below(pid)[0].args == ("agent",))
    assert ProcessTrees().below(pid)[0].name == "agent"


def test_names_may_hold_anything(start: Start, tmp_path: Path) -> None:
    program = tmp_path / "a) S 1 (b"
    os.symlink("/bin/sleep", program)
    pid = start(str(program), "600")
    until(lambda: procfs.command_name(pid) == program.name)
    task = ProcessTrees().below(pid)[0]
    assert (task.name, task.parent) == (program.name, os.getpid())


def test_the_ended_are_told_as_long_as_they_are_there(start: Start) -> None:
    pid = start("bash", "-c", "sleep 600 & exec sleep 601")
    found = ProcessTrees()
    child = next(task.pid for task in settled(found, pid, "sleep", "sleep") if task.pid != pid)
    kill(child, signal.SIGKILL)
    until(lambda: [(task.letter, task.args) for task in found.below(pid) if task.pid == child] == [("Z", ())])
    kill(pid, signal.SIGSTOP)
    until(lambda: found.below(pid)[0].letter == "T")


def test_nobody_is_there(start: Start) -> None:
    pid = start("true")
    until_gone(pid)
    os.waitpid(pid, 0)
    found = ProcessTrees()
    assert found.below(pid) == ()
    assert process_tree.find_running_agent(ProcessInfo(pid, 1, "S", "x", (), 1), "agent", ()) is None


def test_who_ends_while_we_look_is_left_out(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pid was listed as a child's, and then it is gone."""
    pid = start("bash", "-c", "sleep 600 & sleep 601 & wait")
    settled(ProcessTrees(), pid, "bash", "sleep", "sleep")
    victim = procfs.children(pid)[0]
    listed = process_tree.children

    def listing(of: int, threads: str) -> list[int]:
        found = listed(of, threads)
        if of == pid:
            kill(victim, signal.SIGKILL)
            until(lambda: not os.path.exists(f"/proc/{victim}"))
        return found

    monkeypatch.setattr(process_tree, "children", listing)
    assert named(ProcessTrees().below(pid)) == ["bash", "sleep"]


def test_use_is_told_on_demand(start: Start) -> None:
    pid = start(
        "bash", "-c", "for ((i = 0; i < 300000; i++)); do :; done; head -c 1000000 /dev/zero >/dev/null; read x"
    )
    found = ProcessTrees()
    until(lambda: found.below(pid, usage=True)[0].io > 1_000_000 and letter(pid) == "S")
    assert found.below(pid, usage=True)[0].cpu_s > 0
    assert (found.below(pid)[0].cpu_s, found.below(pid)[0].io) == (0.0, 0.0)


def test_the_foreground_of_a_terminal_is_told(private: Private) -> None:
    pane = private.start("bash --norc --noprofile -i")
    private("send-keys", "-t", pane, "sleep 600 &", "Enter", "sleep 601", "Enter")
    shell = int(private("display-message", "-p", "-t", pane, "#{pane_pid}"))
    found = ProcessTrees()

    def fronts() -> dict[tuple[str, ...], bool]:
        return {task.args[:2]: task.foreground for task in found.below(shell)}

    until(lambda: fronts() == {("bash", "--norc"): False, ("sleep", "600"): False, ("sleep", "601"): True})
    private("send-keys", "-t", pane, "C-c")
    until(lambda: fronts() == {("bash", "--norc"): True, ("sleep", "600"): False})


def test_what_an_agent_was_started_with(start: Start, tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    environment = {"HOME": "/h", "ASKED": "a=b\nc", "SECRET": "x", "PATH": os.environ["PATH"]}
    before = time.time()
    pid = start("sleep", "600", cwd=tmp_path / "place", env=environment)
    until(lambda: procfs.command_name(pid) == "sleep")
    task = ProcessTrees().below(pid)[0]
    found = process_tree.find_running_agent(task, "agent", ("ASKED", "MISSING"))
    assert found is not None
    assert found.environment == {"HOME": "/h", "ASKED": "a=b\nc"}
    assert (found.agent, found.pid, found.start, found.args) == ("agent", pid, task.start, ("sleep", "600"))
    assert found.cwd == str(tmp_path / "place")
    assert abs(found.started - before) < 5
    (tmp_path / "place").rmdir()
    gone = process_tree.find_running_agent(task, "agent", ())
    assert gone is not None
    assert gone.cwd == str(tmp_path / "place")
    assert process_tree.find_running_agent(task._replace(start=task.start - 1), "agent", ()) is None
