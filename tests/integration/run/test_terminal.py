"""`dogwatch run` in the foreground: on a real terminal, below a small shell, and where there is none."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dogwatch import proc
from tests.conftest import PATIENCE, Box, alive, letter, until, until_gone

SHELL = """
import contextlib, fcntl, os, signal, sys, termios
said, told, background = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "background"
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
pid = os.fork()
if pid == 0:
    os.setpgid(0, 0)
    if not background:
        os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execvp(sys.argv[4], sys.argv[4:])
while True:
    _, status = os.waitpid(pid, os.WUNTRACED)
    with contextlib.suppress(OSError):
        os.tcsetpgrp(0, os.getpid())
    if not os.WIFSTOPPED(status):
        os.write(said, f"ended {os.waitstatus_to_exitcode(status)} {pid}\\n".encode())
        break
    os.write(said, f"stopped {os.WSTOPSIG(status)} {pid}\\n".encode())
    if os.read(told, 2) == b"fg":
        os.tcsetpgrp(0, pid)
    os.killpg(pid, signal.SIGCONT)
"""
"""A shell with job control and one job: tells when that is suspended or ends, and continues it when told to."""
NO_SHELL = "import fcntl, os, sys; fcntl.ioctl(0, 0x540E, 0); os.execvp(sys.argv[1], sys.argv[1:])"
"""Takes the terminal (TIOCSCTTY) and becomes the command, as `ssh -t` or a new window of tmux run one."""
SOON = 4.0
"""Seconds in which a stop must be over: less than it takes until KILL."""
CHILDREN = "setsid sleep 1000 & sleep 1000 &"
"""Children of a shell: one in a session of its own, both deaf to SIGINT as the shell makes them."""


class Terminal:
    """A terminal on which `dogwatch run` is started; the test is its screen and its keyboard."""

    def __init__(self, box: Box, *arguments: str, rows: int = 33, columns: int = 101, **how: Any) -> None:
        self.master, slave = pty.openpty()
        os.set_blocking(self.master, False)
        self.path = os.ttyname(slave)
        self.shown = b""
        self.resize(rows, columns)
        self.modes_before = self.modes()
        said, say = os.pipe()
        hear, self.orders = os.pipe()
        self.reports = open(said, encoding="utf-8")  # noqa: SIM115  # closed in close()
        command = [*box.program, "run", "--name", "job", *arguments]
        if how.get("shell", True):
            where = "background" if how.get("background") else "foreground"
            command = [sys.executable, "-c", SHELL, str(say), str(hear), where, *command]
        else:
            command = [sys.executable, "-c", NO_SHELL, *command]
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=how.get("stdout", slave), stderr=how.get("stderr", slave),
            pass_fds=(say, hear), start_new_session=True, env=box.env | {"TERM": "xterm"}, cwd=box.cwd,
        )  # fmt: skip
        for fd in (slave, say, hear):
            os.close(fd)

    def __repr__(self) -> str:
        return f"a terminal that ends with {self.shown[-2000:]!r}"

    def see(self, pattern: str, within: float = PATIENCE) -> re.Match[bytes]:
        """Look at the screen until something is there."""
        wanted, deadline = re.compile(pattern.encode("latin-1"), re.DOTALL), time.monotonic() + within
        while not (found := wanted.search(self.shown)):
            assert self.look(deadline - time.monotonic()), f"{pattern!r} is not to be seen in {self.shown!r}"
        return found

    def look(self, within: float) -> bool:
        """See what is new on the screen. False: nothing came in that time, or nothing will ever come."""
        ready, _, _ = select.select([self.master], [], [], max(0.0, within))
        try:
            more = os.read(self.master, 65536) if ready else b""
        except OSError:  # nobody has the terminal open any more
            more = b""
        self.shown += more
        return bool(more)

    def type(self, keys: bytes) -> None:
        while keys:
            _, ready, _ = select.select([], [self.master], [], PATIENCE)
            assert ready, f"nobody reads what is typed; on the screen: {self.shown!r}"
            keys = keys[os.write(self.master, keys) :]

    def unread(self) -> int:
        """How many keys were typed that nobody has read yet."""
        slave = os.open(self.path, os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            return int.from_bytes(fcntl.ioctl(slave, termios.FIONREAD, b"\0" * 4), sys.byteorder)
        finally:
            os.close(slave)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def modes(self) -> list[Any]:
        return termios.tcgetattr(self.master)

    def report(self, within: float = PATIENCE) -> tuple[str, int, int]:
        """What the shell says next of its job: stopped or ended, by what, its pid. The screen is seen meanwhile."""
        deadline, said = time.monotonic() + within, self.reports.fileno()
        watched = [said, self.master]
        while True:
            ready, _, _ = select.select(watched, [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"after {within} s it goes on; on the screen: {self.shown!r}"
            if said in ready:
                word, number, pid = self.reports.readline().split()
                while self.look(0):
                    pass
                return word, int(number), int(pid)
            if not self.look(0):
                watched = [said]

    def ended(self, within: float = PATIENCE) -> int:
        """Wait for the end of the job: its exit code."""
        word, code, _ = self.report(within)
        assert word == "ended", f"it was {word} by signal {code}; on the screen: {self.shown!r}"
        return code

    def suspended(self) -> int:
        """Wait until the shell sees its job stop: the pid of that."""
        word, code, pid = self.report()
        assert word == "stopped", f"{word} {code}; on the screen: {self.shown!r}"
        return pid

    def go_on(self, where: bytes = b"fg") -> None:
        """Continue it, as `fg` or `bg` do."""
        os.write(self.orders, where)

    def hang_up(self) -> None:
        os.close(self.master)
        self.master = -1

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.reports.close()
        os.close(self.orders)
        if self.master >= 0:
            self.hang_up()


Open = Callable[..., Terminal]
Go = Callable[[], None]


@pytest.fixture
def terminal(box: Box) -> Iterator[Open]:
    with contextlib.ExitStack() as stack:
        yield lambda *arguments, **how: stack.enter_context(contextlib.closing(Terminal(box, *arguments, **how)))


@pytest.fixture
def go(box: Box) -> Iterator[Go]:
    """Lets work go on that waits with ``read line < go``, whether or not it has come there yet."""
    os.mkfifo(box.cwd / "go")
    fifo = os.open(box.cwd / "go", os.O_RDWR | os.O_CLOEXEC)

    def let_go() -> None:
        os.write(fifo, b"\n")

    yield let_go
    os.close(fifo)


def state(box: Box) -> str:
    found: str = box("wait", "job", "--timeout", "0", "--json").json["state"]
    return found


def left(box: Box) -> list[int]:
    """Pids of what lives of the job, wherever it went: found by what its environment holds, not by our own senses."""
    mark, found = f"DOGWATCH_RUN={box.record('job')['run']}\0", []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if mark in proc.read_text(f"/proc/{pid}/environ") and alive(int(pid)):
                found.append(int(pid))
    return found


def parent_of(pid: int) -> int:
    return int(proc.stat_fields(pid)[1])


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


def test_a_stop_signal_for_dogwatch_suspends_the_work_too(box: Box, terminal: Open) -> None:
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
    assert not screen.look(within=2.5), f"{screen.shown[len(before) :]!r} was written into it"


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
        assert not screen.look(within=2.5), screen.shown
    assert (box.cwd / "err").read_bytes() == b""


def test_standard_output_in_a_pipe_is_a_pipe_for_the_work_too(box: Box, terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "test -t 0 && ! test -t 1 && ! test -t 2 && echo out", stdout=subprocess.PIPE)
    assert screen.process.stdout is not None
    assert screen.ended() == 0
    assert screen.process.stdout.read() == b"out\n"
    screen.process.stdout.close()
    assert box.path("job.log").read_bytes() == b"out\n"


# Without a terminal -------------------------------------------------------------------------------------------

MIX = """
import os, random, sys
noise = random.Random(int(sys.argv[1]))
for _ in range(100):
    for fd in (1, 2):
        data = noise.randbytes(50_000)
        while data:
            data = data[os.write(fd, data):]
"""


def call(box: Box, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return start([*box.program, "run", "--name", "job", *arguments], box, given)


def script(box: Box, text: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a shell script in which DOGWATCH stands for the program."""
    return start(["sh", "-c", text.replace("DOGWATCH", " ".join(box.program))], box, given)


def start(command: list[str], box: Box, given: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command, input=given, env=box.env, cwd=box.cwd, capture_output=True, timeout=PATIENCE, check=False
    )


def test_standard_output_and_error_come_apart_and_byte_for_byte(box: Box) -> None:
    done = call(box, "--", sys.executable, "-c", MIX, "7")
    noise = random.Random(7)
    chunks = [noise.randbytes(50_000) for _ in range(200)]
    assert done.returncode == 0
    assert done.stdout == b"".join(chunks[0::2])
    assert done.stderr == b"".join(chunks[1::2])


def test_what_comes_by_pipe_is_in_the_log_too(box: Box) -> None:
    done = call(box, "--", "printf", r"\377\000\376 \303\050\n")
    assert done.stdout == box.path("job.log").read_bytes() == b"\xff\x00\xfe \xc3\x28\n"


def test_standard_input_is_passed_on_byte_for_byte(box: Box) -> None:
    data = random.Random(3).randbytes(5_000_000)
    done = call(box, "--", "cat", given=data)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == data


def test_what_the_work_does_not_read_is_left_for_the_caller(box: Box) -> None:
    assert script(box, "DOGWATCH run -- head -c 0; cat", given=b"still here").stdout == b"still here"


def test_work_whose_output_nobody_reads_ends_as_it_would_alone(box: Box) -> None:
    assert script(box, "DOGWATCH run --name job -- yes | head -1").stdout == b"y\n"
    for pid in box.pids("job"):
        until_gone(pid)
    record = box.record("job")
    assert record["end"]["signal"] == signal.SIGPIPE, record


def test_captured_output_returns_when_the_work_ends_though_a_child_lives_on(box: Box) -> None:
    began = time.monotonic()
    done = script(box, "x=$(DOGWATCH run --name job -- sh -c 'sleep 1000 & echo hi'); echo \"<$x>\"")
    assert done.stdout == b"<hi>\n"
    assert time.monotonic() - began < SOON
    assert "left running" in box("why", "job").out


def test_a_caller_whose_pipe_does_not_block_loses_nothing(box: Box) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    command = [*box.program, "run", "--name", "job", "--", sys.executable, "-c", MIX, "7"]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=writing, stderr=subprocess.DEVNULL, env=box.env, cwd=box.cwd
    ) as run:
        os.close(writing)
        with open(reading, "rb") as pipe:
            got = pipe.read()
        assert run.wait(PATIENCE) == 0
    noise = random.Random(7)
    assert got == b"".join([noise.randbytes(50_000) for _ in range(200)][0::2])


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_caller_may_have_closed_its_streams(box: Box, closed: str) -> None:
    done = script(box, f"DOGWATCH run --name job -- sh -c 'cat; echo out; echo err >&2; exit 5' {closed}")
    assert done.returncode == 5, done
    assert sorted(box.path("job.log").read_text().split()) == ["err", "out"]


# Signals for `dogwatch run` -----------------------------------------------------------------------------------


def line(run: subprocess.Popen[str]) -> str:
    """The next line that it writes."""
    assert run.stdout is not None
    ready, _, _ = select.select([run.stdout], [], [], PATIENCE)
    assert ready, "it says nothing"
    return run.stdout.readline()


@contextlib.contextmanager
def running(box: Box, *command: str) -> Iterator[subprocess.Popen[str]]:
    """A `dogwatch run` of this command, which has said that it is ready."""
    run = box.start("run", "--name", "job", "--", *command)
    try:
        assert line(run) == "ready\n"
        yield run
    finally:
        run.kill()
        run.communicate()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 125), (signal.SIGHUP, 125), (signal.SIGQUIT, 125)],
    ids=["INT", "TERM", "HUP", "QUIT"],
)  # fmt: skip
def test_a_signal_that_asks_us_to_end_stops_the_tree_at_once(box: Box, number: int, code: int) -> None:
    with running(box, "sh", "-c", f"{CHILDREN} echo ready; wait") as run:
        run.send_signal(number)
        assert run.wait(SOON) == code
    assert state(box) == "stopped"
    assert left(box) == []


def test_work_that_cleans_up_when_asked_to_end_is_given_the_time(box: Box, go: Go) -> None:
    os.mkfifo(box.cwd / "never")
    end = "echo cleaning; read line < go; echo clean; exit 0"
    with running(box, "sh", "-c", f"trap '{end}' TERM; echo ready; read line < never") as run:
        run.terminate()
        assert line(run) == "cleaning\n"
        go()
        assert line(run) == "clean\n"
        assert run.wait(PATIENCE) == 125
    assert state(box) == "stopped"


def test_a_stop_is_obeyed_although_nobody_reads_our_output(box: Box) -> None:
    with running(box, "sh", "-c", "echo ready; exec yes") as run:
        work = box.pids("job")[1]
        until(lambda: letter(run.pid) == letter(work) == "S")
        run.terminate()
        until_gone(work)
    assert left(box) == []


def test_asked_to_end_we_end_although_nobody_reads_our_output(box: Box) -> None:
    with running(box, "sh", "-c", "echo ready; exec yes") as run:
        until(lambda: letter(run.pid) == letter(box.pids("job")[1]) == "S")
        run.terminate()
        assert run.wait(SOON) == 125


def test_a_killed_caller_takes_the_tree_with_it(box: Box) -> None:
    with running(box, "sh", "-c", f"{CHILDREN} echo ready; wait") as run:
        shim, work = box.pids("job")
        run.kill()
        for pid in (work, shim):
            until_gone(pid)
    assert state(box) == "stopped"
    assert left(box) == []


def test_a_killed_shim_leaves_the_work_to_its_caller(box: Box, go: Go) -> None:
    with running(box, "sh", "-c", "echo ready; read l < go; echo more") as run:
        shim, _ = box.pids("job")
        os.kill(shim, signal.SIGKILL)
        go()
        assert line(run) == "more\n"
        assert run.wait(PATIENCE) == 125
    assert state(box) == "crashed"


@pytest.mark.parametrize("name", ["HUP", "INT"])
def test_a_signal_that_the_caller_had_us_ignore_stops_nothing(box: Box, go: Go, name: str) -> None:
    box.program = ["sh", "-c", f"trap '' {name}; exec \"$@\"", "sh", *box.program]
    with running(box, "sh", "-c", "echo ready; read line < go; exit 3") as run:
        run.send_signal(signal.Signals[f"SIG{name}"])
        go()
        assert run.wait(PATIENCE) == 3


# Exit codes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--", "true"], 0),
        (["--", "sh", "-c", "exit 7"], 7),
        (["--", "sh", "-c", "exit 255"], 255),
        (["--", "sh", "-c", "kill -9 $$"], 137),
        (["--", "sh", "-c", "kill -15 $$"], 143),
        (["--timeout", "0.2", "--", "sleep", "1000"], 124),
        (["--stale", "0.2", "--grace", "0", "--on-stuck", "stop", "--", "sleep", "1000"], 125),
        (["--dir", "/proc/nowhere", "--", "true"], 125),
        (["--", "/etc/passwd"], 126),
        (["--", "/"], 126),
        (["--", "no-such-program"], 127),
        (["--", "./no-such-program"], 127),
        (["--no-such-option", "--", "true"], 2),
        ([], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_the_exit_code_says_how_it_ended(box: Box, arguments: list[str], code: int) -> None:
    done = call(box, *arguments)
    assert done.returncode == code, done


def test_the_exit_code_is_125_when_another_stops_it(box: Box) -> None:
    with running(box, "sh", "-c", "echo ready; exec sleep 1000") as run:
        assert box("stop", "job").code == 0
        assert run.wait(PATIENCE) == 125


def test_a_name_that_is_in_use_is_refused_with_125_and_the_other_goes_on(box: Box) -> None:
    with running(box, "sh", "-c", "echo ready; exec sleep 1000"):
        done = call(box, "--", "true")
        assert done.returncode == 125, done
        assert b"job is working already" in done.stderr
        assert state(box) == "working"
