"""Whose events are whose, and how the spool is read on."""

import json
import os
import time
from pathlib import Path

import pytest

from midwatch.agents.hooks import turns
from midwatch.agents.hooks.events import HookEvent
from midwatch.agents.hooks.spool import RECENT, HookSpool
from midwatch.core.pane_model import RunningAgent, SourceReport
from midwatch.system import procfs
from midwatch.tmux.client import socket_path
from tests.integration.hooks.calling import PANE, SOCKET, pane, this_process


class Book:
    """A spool that is written by hand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sense = HookSpool(str(path))
        self.up = float(procfs.read_text("/proc/uptime").split()[0])

    def write(
        self, name: str, conversation: str = "c", *, agent: str = "claude", where: str = PANE, socket: str = SOCKET,
        pid: int = 1, up: float = 0.0, boot: str = "", end: str = "\n", **fields: str,
    ) -> None:  # fmt: skip
        self.up += 0.01
        payload = {"hook_event_name": name, "session_id": conversation, "cwd": "/proj"} | fields
        line = ("1", agent, where, f"{socket},7,0", str(pid), boot or procfs.boot_id(), str(up or self.up), "")
        file = self.path / f"{agent}{socket.replace('/', ',')}{where}.events"
        with file.open("a") as spool:
            spool.write("\n" + "\t".join((*line, json.dumps(payload))) + end)

    def observe(
        self, running: RunningAgent | None = None, conversation: str = "", where: str = PANE
    ) -> SourceReport | None:
        return self.sense.read(running or this_process(), pane(where), conversation)

    def event(self, running: RunningAgent | None = None, conversation: str = "", where: str = PANE) -> str:
        found = self.observe(running, conversation, where)
        return found.trouble or found.words["event"] if found else ""


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path)


# Whose --------------------------------------------------------------------------------------------------------------


def test_another_pane_and_another_server_are_another_agent(book: Book) -> None:
    book.write("Stop")
    book.write("UserPromptSubmit", where="%13")
    book.write("UserPromptSubmit", socket="/tmp/other")
    book.write("UserPromptSubmit", agent="claude-next")
    assert book.event() == "Stop"
    assert book.event(where="%13") == "UserPromptSubmit"
    assert book.event(where="%4") == ""


def test_what_was_told_before_this_process_began_or_before_the_last_boot_is_not_its_own(book: Book) -> None:
    running = this_process()
    book.write("Stop", up=running.start / procfs.TICKS - 1)
    book.write("Stop", boot="another")
    assert book.observe() is None
    book.write("UserPromptSubmit", up=running.start / procfs.TICKS)
    assert book.event() == "UserPromptSubmit"


def test_an_agent_that_runs_as_a_tool_in_the_same_pane_does_not_speak_for_the_one_above(book: Book) -> None:
    book.write("SessionStart", source="startup")
    book.write("PreToolUse", tool_name="Bash", tool_use_id="1")
    book.write("SessionStart", "inner", source="startup")
    for name in ("UserPromptSubmit", "Stop"):
        book.write(name, "inner")
        assert book.event() == "PreToolUse"
    book.write("SessionEnd", "inner")
    book.write("PostToolUse", tool_name="Bash", tool_use_id="1")
    found = book.observe()
    assert found is not None
    assert (found.words["event"], found.words["conversation"], found.words["count"]) == ("PostToolUse", "c", "3")


def test_the_agent_whose_pid_called_is_meant_although_another_was_first(book: Book) -> None:
    book.write("UserPromptSubmit", "other")
    book.write("Stop", "mine", pid=os.getpid())
    book.write("UserPromptSubmit", "other")
    assert book.event() == "Stop"


def test_a_conversation_that_is_cleared_goes_on_as_another(book: Book) -> None:
    book.write("SessionStart", source="startup")
    book.write("SessionEnd", reason="clear")
    book.write("SessionStart", "d", source="clear")
    found = book.observe()
    assert found is not None
    assert (found.words["event"], found.words["conversation"]) == ("SessionStart", "d")


def test_the_pane_goes_before_a_conversation_that_may_be_an_old_one(book: Book) -> None:
    book.write("Stop", "old", where="%9")
    assert book.event(conversation="old") == "Stop"
    book.write("UserPromptSubmit", "new")
    assert book.event(conversation="old") == "UserPromptSubmit"


def test_events_count_in_the_order_of_time_and_not_of_writing(book: Book) -> None:
    book.write("Stop", up=book.up + 2)
    book.write("PostToolUse", up=book.up + 1)
    assert book.event() == "Stop"


# A daemon's ---------------------------------------------------------------------------------------------------------


def test_a_daemons_pane_is_nobodys(book: Book) -> None:
    book.write("Stop", "a", agent="codex", where="%7", cwd="/elsewhere")
    running = this_process("codex")
    assert book.event(running, where="%7") == ""
    assert book.event(running, "a", where="%8") == "Stop"
    assert book.event(running._replace(cwd="/elsewhere"), where="%8") == "Stop"
    assert book.event(running._replace(args=("codex", "resume", "a")), where="%8") == "Stop"


def test_two_conversations_in_one_directory_cannot_be_told_apart(book: Book) -> None:
    book.write("Stop", "a", agent="codex")
    book.write("UserPromptSubmit", "b", agent="codex")
    running = this_process("codex")
    assert book.event(running) == "2 conversations in /proj have called hooks"
    assert book.event(running, "b") == "UserPromptSubmit"
    assert book.event(running._replace(args=("codex", "resume", "a"))) == "Stop"
    book.write("SessionEnd", "b", agent="codex")
    assert book.event(running) == "Stop"


def test_without_a_daemon_the_caller_is_the_agent_itself(book: Book) -> None:
    book.write("Stop", "a", agent="codex", pid=os.getpid())
    book.write("UserPromptSubmit", "b", agent="codex")
    assert book.event(this_process("codex")) == "Stop"


# Reading on ---------------------------------------------------------------------------------------------------------


def test_no_spool_and_an_empty_one_say_nothing(book: Book, tmp_path: Path) -> None:
    assert HookSpool(str(tmp_path / "none")).read(this_process(), pane()) is None
    assert book.observe() is None


def test_a_spool_that_cannot_be_read_is_no_silence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = HookSpool(str(tmp_path / "file")).read(this_process(), pane())
    assert found is not None
    assert (found.words, found.trouble) == ({}, "the spool of the hooks cannot be read: Not a directory")


def test_a_line_counts_once_it_is_whole(book: Book) -> None:
    book.write("UserPromptSubmit")
    assert book.event() == "UserPromptSubmit"
    book.write("Stop", end="")
    assert book.event() == "UserPromptSubmit"
    book.write("MessageDisplay")  # begins with a newline, and so ends the line before
    assert book.event() == "Stop"


def test_torn_and_foreign_lines_are_passed_over(book: Book) -> None:
    book.write("UserPromptSubmit")
    (file,) = book.path.iterdir()
    with file.open("ab") as spool:
        spool.write(b"\n1\tclaude\t%3\t\xff\xfe\n\n9\tlater version\n\n{}\n")
    book.write("Stop")
    assert book.event() == "Stop"


def test_a_file_that_was_moved_aside_between_two_looks_is_still_known(book: Book) -> None:
    book.write("UserPromptSubmit")
    book.write("PreToolUse", tool_name="Bash", tool_use_id="1")
    assert book.event() == "PreToolUse"
    (file,) = book.path.iterdir()
    book.write("PermissionRequest", tool_name="Bash")
    file.rename(f"{file}.1")
    assert book.event() == ""  # the moment before the first line of the new file
    book.write("MessageDisplay")
    found = book.observe()
    assert found is not None
    assert (found.words["event"], found.words["count"]) == ("PermissionRequest", "4")


def test_an_event_is_found_however_much_chatter_came_after_it(book: Book) -> None:
    book.write("Stop")
    for _ in range(RECENT * 2):
        book.write("MessageDisplay")
    assert book.event() == "Stop"
    for _ in range(RECENT * 2):
        book.write("MessageDisplay")
    found = book.observe()
    assert found is not None
    assert (found.words["event"], found.words["count"]) == ("Stop", str(4 * RECENT + 1))


def test_events_are_gone_through_again_only_when_there_are_new_ones(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent tells thousands in a day, and is looked at every two seconds."""
    gone_through: list[list[HookEvent]] = []
    turn = turns.derive_turn

    def counted(events: list[HookEvent]) -> turns.HookTurn:
        gone_through.append(events)
        return turn(events)

    monkeypatch.setattr(turns, "derive_turn", counted)
    book.write("UserPromptSubmit")
    for looks, name in enumerate(("UserPromptSubmit", "Stop", "UserPromptSubmit"), start=1):
        book.write(name)
        assert [book.event() for _ in range(3)] == [name] * 3
        assert len(gone_through) == looks


def test_two_agents_of_one_pane_are_not_taken_for_each_other_although_nothing_is_new(book: Book) -> None:
    first = this_process()
    later = first._replace(pid=first.pid + 1, start=first.start + 10**6)
    book.write("Stop", "c", pid=first.pid)
    for _ in range(2):
        assert book.event(first) == "Stop"
        assert book.event(later) == ""


def test_what_a_file_said_goes_with_it(book: Book) -> None:
    book.write("Stop")
    assert book.event() == "Stop"
    (file,) = book.path.iterdir()
    file.unlink()
    assert book.event() == ""


def test_a_pipe_in_the_spool_makes_nobody_wait(book: Book) -> None:
    os.mkfifo(book.path / f"claude{SOCKET.replace('/', ',')}{PANE}.events")
    assert book.observe() is None


def test_files_that_nobody_writes_to_any_more_can_be_swept(book: Book) -> None:
    book.write("Stop")
    (old,) = book.path.iterdir()
    (book.path / "not ours").touch()
    os.utime(old, (0, time.time() - 90))
    os.utime(book.path / "not ours", (0, 0))
    assert book.sense.leftovers(60) == [str(old)]
    assert book.sense.leftovers(120) == []
    assert HookSpool("/nowhere").leftovers(0) == []


def test_a_server_is_found_as_tmux_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX", "/run/tmux,7,0")
    monkeypatch.delenv("TMUX_TMPDIR", raising=False)
    assert socket_path(("-S", "/x/y")) == "/x/y"
    assert socket_path(("-L", "name")) == f"/tmp/tmux-{os.getuid()}/name"
    assert socket_path(()) == "/run/tmux"
    monkeypatch.delenv("TMUX")
    monkeypatch.setenv("TMUX_TMPDIR", "/t")
    monkeypatch.setattr(os.path, "isdir", lambda path: path == "/t")  # one that is not there does not count
    assert socket_path(()) == f"/t/tmux-{os.getuid()}/default"
