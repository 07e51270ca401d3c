"""`midwatch run` in the foreground on a real terminal, below a small shell."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import termios

import pytest

from tests.conftest import Box, letter, until, until_gone
from tests.integration.run.terminals import CHILDREN, SOON, Go, Open, left, parent_of, state
from tests.integration.wait.watching import start

# On a terminal ------------------------------------------------------------------------------------------------


def test_the_work_gets_a_terminal_of_the_same_size(terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "test -t 0 && test -t 1 && test -t 2 && stty size")
    assert screen.ended() == 0
    assert screen.shown == b"33 101\r\n"


def test_the_work_is_told_when_the_window_changes(terminal: Open) -> None:
    program = (
        "import os; from signal import *;"
        "signal(SIGWINCH, lambda *_: os.write(1, b'%d %d\\n' % os.get_terminal_size()));"
        "os.write(1, b'ready\\n'); [pause() for _ in iter(int, 1)]"
    )
    screen = terminal("--", sys.executable, "-c", program)
    screen.see("ready")
    screen.resize(12, 34)
    screen.see("34 12")


def test_output_streams_through_untouched_and_is_in_the_log(box: Box, terminal: Open) -> None:
    raw = rb"\033[31mred\033[0m \001\377\376 \342\202\254\a" rb"\r\rover\tthere\n"
    screen = terminal("--", "printf", raw.decode())
    assert screen.ended() == 0
    expected = b"\033[31mred\033[0m \001\377\376 \342\202\254\a\r\rover\tthere\r\n"
    assert screen.shown == expected
    assert box.path("job.log").read_bytes() == expected


def test_output_is_shown_as_it_comes(terminal: Open, go: Go) -> None:
    screen = terminal("--", "sh", "-c", "echo first; read line < go; echo second")
    screen.see("first\r\n")
    assert b"second" not in screen.shown
    go()
    assert screen.ended() == 0
    assert screen.shown.endswith(b"second\r\n")


def test_all_that_the_work_wrote_before_it_ended_is_shown(box: Box, terminal: Open, go: Go) -> None:
    screen = terminal("--", "sh", "-c", "echo ready; read line < go; seq 1500")
    screen.see("ready")
    shim, _ = box.pids("job")
    os.kill(parent_of(shim), signal.SIGSTOP)
    screen.suspended()
    go()
    until_gone(shim)
    screen.go_on()
    assert screen.ended() == 0
    assert screen.shown == b"ready\r\n" + b"".join(b"%d\r\n" % number for number in range(1, 1501))


def test_what_is_typed_reaches_the_work(terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", 'echo ready; read line; echo "got <$line>"')
    screen.see("ready")
    screen.type(b"hello there\r")
    assert screen.ended() == 0
    screen.see("hello there\r\ngot <hello there>\r\n")


def test_the_end_of_what_is_typed_reaches_the_work(terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "echo ready; cat; echo over")
    screen.see("ready")
    screen.type(b"\x04")
    assert screen.ended() == 0
    screen.see("over")


def test_what_is_typed_when_nobody_can_read_it_any_more_does_no_harm(box: Box, terminal: Open, go: Go) -> None:
    screen = terminal("--", "sh", "-c", "echo ready; exec <&- >&- 2>&-; read line < go; exit 3")
    screen.see("ready")
    work = box.pids("job")[1]
    until(lambda: not os.path.exists(f"/proc/{work}/fd/2"))
    for key in (b"a", b"b", b"c"):
        screen.type(key)
        until(lambda: screen.unread() == 0)
    go()
    assert screen.ended() == 3


def test_a_paste_larger_than_any_buffer_reaches_the_work(terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "stty raw -echo; echo ready; head -c 300000 | cksum")
    screen.see("ready")
    pasted = bytes(random.Random(1).choices(range(32, 127), k=300_000))
    screen.type(pasted)
    assert screen.ended() == 0
    told = subprocess.run(["cksum"], input=pasted, capture_output=True, check=True).stdout.split()
    assert told[0] in screen.shown


@pytest.mark.parametrize("command", ["true", "exit 3", "kill -9 $$"])
def test_the_terminal_is_left_as_it_was(terminal: Open, command: str) -> None:
    screen = terminal("--", "sh", "-c", command)
    screen.ended()
    assert screen.modes() == screen.modes_before


# Keys that are signals ----------------------------------------------------------------------------------------


def test_ctrl_c_stops_the_work_with_its_children_at_once(box: Box, terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", f"{CHILDREN} echo ready; wait")
    screen.see("ready")
    screen.type(b"\x03")
    assert screen.ended(within=SOON) == 130
    assert state(box) == "stopped"
    assert left(box) == []
    assert screen.modes() == screen.modes_before


def test_work_that_handles_ctrl_c_itself_is_not_stopped(box: Box, terminal: Open) -> None:
    work = "trap 'echo caught' INT; echo ready; until read line; do :; done; echo got $line; exit 7"
    screen = terminal("--", "sh", "-c", work)
    screen.see("ready")
    screen.type(b"\x03")
    screen.see("caught")
    screen.type(b"hello\r")
    assert screen.ended() == 7
    screen.see("got hello")
    assert state(box) == "failed"


def test_work_in_raw_mode_reads_ctrl_c_as_a_key(box: Box, terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "stty raw -echo; echo ready; head -c 1 | od -An -tx1; stty sane")
    screen.see("ready")
    screen.type(b"\x03")
    assert screen.ended() == 0
    screen.see(" 03")
    assert state(box) == "completed"


def test_ctrl_z_suspends_the_work_and_gives_the_terminal_back(box: Box, terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "echo ready; read line; echo got $line")
    screen.see("ready")
    screen.type(b"\x1a")
    screen.suspended()
    assert screen.modes() == screen.modes_before
    work = box.pids("job")[1]
    assert letter(work) == "T"


def test_suspended_work_is_said_to_wait_for_a_person(box: Box, terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "echo ready; read line; echo got $line")
    screen.see("ready")
    screen.type(b"\x1a")
    screen.suspended()
    waited = box("wait", "job", "--json")
    assert (waited.code, waited.json["state"], waited.json["final"]) == (8, "waiting", False), waited
    assert box("ls", "--json").json["state"] == "waiting"


def test_after_ctrl_z_fg_brings_the_work_back(box: Box, terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "echo ready; read line; echo got $line")
    screen.see("ready")
    screen.type(b"\x1a")
    screen.suspended()
    screen.go_on()
    until(lambda: letter(box.pids("job")[1]) == "S")
    screen.type(b"hello\r")
    assert screen.ended() == 0
    screen.see("got hello")
    assert screen.modes() == screen.modes_before


def test_after_ctrl_z_bg_lets_the_work_go_on_in_the_background(terminal: Open, go: Go) -> None:
    screen = terminal("--", "sh", "-c", "echo ready; read line < go; echo went on")
    screen.see("ready")
    screen.type(b"\x1a")
    screen.suspended()
    screen.go_on(b"bg")
    go()
    assert screen.ended() == 0
    screen.see("went on")
    assert screen.modes() == screen.modes_before


def test_after_ctrl_z_the_work_has_the_size_that_the_window_got_meanwhile(box: Box, terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "echo ready; read line; stty size")
    screen.see("ready")
    screen.type(b"\x1a")
    screen.suspended()
    screen.resize(12, 34)
    screen.go_on()
    until(lambda: letter(box.pids("job")[1]) == "S")
    screen.type(b"\r")
    assert screen.ended() == 0
    screen.see("12 34")


def test_ctrl_z_can_be_typed_again_and_again(box: Box, terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "echo ready; read line; echo got $line")
    screen.see("ready")
    for _ in range(3):
        screen.type(b"\x1a")
        screen.suspended()
        screen.go_on()
        until(lambda: letter(box.pids("job")[1]) == "S")
    assert state(box) == "working"


def test_work_that_goes_on_and_is_stopped_again_at_once_is_seen_to_stop_twice(box: Box) -> None:
    """Of a process that was continued and stopped since it was last asked for, the kernel reports the stop alone."""
    start(box, "job", "sleep", "300")
    shim, work = box.pids("job")

    def send(pid: int, number: int, expected: str) -> None:
        os.kill(pid, number)
        until(lambda: letter(pid) == expected)

    def seen() -> list[str]:
        return [each["event"] for each in box.events("job") if each["event"] in ("suspended", "continued")]

    send(work, signal.SIGSTOP, "T")
    until(lambda: seen() == ["suspended"])
    send(shim, signal.SIGSTOP, "T")
    send(work, signal.SIGCONT, "S")
    send(work, signal.SIGSTOP, "T")
    os.kill(shim, signal.SIGCONT)
    until(lambda: seen() == ["suspended", "continued", "suspended"])


def test_a_suspended_job_can_be_stopped(box: Box, terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", f"{CHILDREN} echo ready; wait")
    screen.see("ready")
    screen.type(b"\x1a")
    screen.suspended()
    stopped = box("stop", "job", "--json")
    assert stopped.json["state"] == "stopped", stopped
    assert left(box) == []
    screen.go_on()
    assert screen.ended() == 125


@pytest.mark.parametrize("wrapper", [[], ["sh", "-c", '"$@"; exit $?', "sh"]], ids=["at all", "with job control"])
def test_ctrl_z_with_no_shell_to_come_back_to_does_not_freeze_the_terminal(
    box: Box, terminal: Open, wrapper: list[str]
) -> None:
    box.program = [*wrapper, *box.program]
    screen = terminal("--", "sh", "-c", "echo ready; read line; echo got $line", shell=False)
    screen.see("ready")
    screen.type(b"\x1a")
    screen.see(r"\^Z")
    screen.type(b"hello\r")
    screen.see("got hello", within=SOON)


def test_stopped_itself_and_continued_it_takes_the_terminal_again(box: Box, terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "echo ready; read line; echo got $line")
    screen.see("ready")
    os.kill(parent_of(box.pids("job")[0]), signal.SIGSTOP)
    screen.suspended()
    termios.tcsetattr(screen.master, termios.TCSANOW, screen.modes_before)  # as a shell does before its prompt
    screen.go_on()
    until(lambda: not screen.modes()[3] & termios.ICANON)
    screen.type(b"hello\r")
    assert screen.ended() == 0
    assert screen.modes() == screen.modes_before


def test_work_that_another_stops_is_suspended_as_by_ctrl_z(box: Box, terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "echo ready; read line; echo got $line")
    screen.see("ready")
    work = box.pids("job")[1]
    os.kill(work, signal.SIGSTOP)
    screen.suspended()
    screen.go_on()
    until(lambda: letter(work) == "S")


def test_a_stop_signal_for_midwatch_suspends_the_work_too(box: Box, terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "echo ready; read line; echo got $line")
    screen.see("ready")
    shim, work = box.pids("job")
    os.kill(parent_of(shim), signal.SIGTSTP)
    screen.suspended()
    until(lambda: letter(work) == "T")
    screen.go_on()
    until(lambda: letter(work) == "S")
    screen.type(b"hello\r")
    assert screen.ended() == 0
    screen.see("got hello")


def test_the_hang_up_of_the_terminal_stops_the_work_with_its_children(box: Box, terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", f"{CHILDREN} echo ready; wait")
    screen.see("ready")
    shim, work = box.pids("job")
    screen.hang_up()
    for pid in (work, shim):
        until_gone(pid)
    assert state(box) == "stopped"
    assert left(box) == []


def test_the_hang_up_of_the_terminal_stops_suspended_work_too(box: Box, terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", f"{CHILDREN} echo ready; wait")
    screen.see("ready")
    shim, work = box.pids("job")
    screen.type(b"\x1a")
    screen.suspended()
    screen.hang_up()
    for pid in (work, shim):
        until_gone(pid)
    assert state(box) == "stopped"
    assert left(box) == []


def test_all_that_the_work_says_after_the_hang_up_is_in_the_log(box: Box, terminal: Open, go: Go) -> None:
    end = "echo last but one; read line < go; echo last words; exit"
    screen = terminal("--", "sh", "-c", f"end() {{ {end}; }}; trap '' HUP; trap end TERM; echo ready; read line; wait")
    screen.see("ready")
    shim, _ = box.pids("job")
    screen.hang_up()
    box.until_file("job.log", lambda text: "last but one" in text)
    go()
    until_gone(shim)
    assert "last words" in box.path("job.log").read_text()


def test_in_the_background_of_a_terminal_it_is_not_stopped_by_that_terminal(terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "echo shown; exit 3", background=True)
    assert screen.ended() == 3
    screen.see("shown")


# The live line ------------------------------------------------------------------------------------------------

LINE = r"\r\x1b\[2Kjob working [^\r\n]*"


def test_quiet_work_shows_a_live_line_that_is_erased_before_its_next_output(terminal: Open, go: Go) -> None:
    screen = terminal("--", "sh", "-c", "echo ready; read line < go; echo more")
    screen.see(f"ready\r\n{LINE}")
    go()
    assert screen.ended() == 0
    assert re.search(rf"ready\r\n({LINE})+\r\x1b\[2Kmore\r\n$".encode(), screen.shown), screen.shown


def test_the_live_line_is_not_in_the_log(box: Box, terminal: Open, go: Go) -> None:
    screen = terminal("--", "sh", "-c", "read line < go; echo more")
    screen.see(LINE)
    go()
    assert screen.ended() == 0
    assert box.path("job.log").read_bytes() == b"more\r\n"


@pytest.mark.parametrize(
    "manners", ["stty raw -echo; echo ready", "stty -echo; echo ready", "stty -icanon; echo ready", "printf ready"]
)
def test_a_screen_that_is_the_works_own_gets_no_live_line(terminal: Open, manners: str) -> None:
    screen = terminal("--", "sh", "-c", f"{manners}; head -c 1")
    screen.see("ready\n" if "raw" in manners else "ready" if "printf" in manners else "ready\r\n")
    before = screen.shown
    assert not screen.observe(within=2.5), f"{screen.shown[len(before) :]!r} was written into it"


def test_the_live_line_is_gone_while_the_work_is_suspended(box: Box, terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "echo ready; read line")
    screen.see(LINE)
    os.kill(box.pids("job")[1], signal.SIGSTOP)
    screen.suspended()
    assert b"job working" not in screen.shown.rsplit(b"\x1b[2K", 1)[1], screen.shown


# With some streams elsewhere ----------------------------------------------------------------------------------


def test_standard_error_in_a_file_stays_apart_on_a_terminal(box: Box, terminal: Open) -> None:
    with (box.cwd / "err").open("wb") as err:
        screen = terminal("--", "sh", "-c", "test -t 1 && echo out; test -t 2 || echo err >&2", stderr=err)
        assert screen.ended() == 0
    assert screen.shown == b"out\r\n"
    assert (box.cwd / "err").read_bytes() == b"err\n"
    assert sorted(box.path("job.log").read_text().split()) == ["err", "out"]


def test_no_live_line_in_a_file(box: Box, terminal: Open) -> None:
    with (box.cwd / "err").open("wb") as err:
        screen = terminal("--", "sh", "-c", "echo ready; head -c 1", stderr=err)
        screen.see("ready\r\n")
        assert not screen.observe(within=2.5), screen.shown
    assert (box.cwd / "err").read_bytes() == b""


def test_standard_output_in_a_pipe_is_a_pipe_for_the_work_too(box: Box, terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "test -t 0 && ! test -t 1 && ! test -t 2 && echo out", stdout=subprocess.PIPE)
    assert screen.process.stdout is not None
    assert screen.ended() == 0
    assert screen.process.stdout.read() == b"out\n"
    screen.process.stdout.close()
    assert box.path("job.log").read_bytes() == b"out\n"
