"""`midwatch run` on a terminal that is told how the work goes; the test is the terminal."""

from __future__ import annotations

import os
import re
import signal
import time

import pytest

from tests.conftest import Box, kill
from tests.integration.program_status.reports import (
    ATTRIBUTES,
    AUTO,
    BAR,
    GHOSTTY,
    ON,
    QUERY,
    REPORT,
    YES,
    answered,
    bars,
    reports,
)
from tests.integration.run.terminals import SOON, Go, Open

# A terminal that understands ----------------------------------------------------------------------------------


def test_a_terminal_that_answers_is_told_before_the_work_and_after(box: Box, terminal: Open) -> None:
    screen = terminal("--", "echo", "hello", env=AUTO)
    answered(screen)
    assert screen.ended() == 0
    record = {"id": "midwatch", "app": "midwatch", "title": "job"}
    begun, ended = reports(screen)
    assert begun == {"state": "working"} | record
    assert ended.pop("msg").startswith("completed: exit 0 after ")
    assert ended == {"state": "done"} | record
    assert REPORT.sub(b"|", screen.shown) == QUERY + b"|hello\r\n|"
    assert box.path("job.log").read_bytes() == b"hello\r\n"
    assert screen.modes() == screen.modes_before


def test_work_that_fails_is_an_error(terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "exit 3", env=AUTO)
    answered(screen)
    assert screen.ended() == 3
    assert reports(screen)[-1]["state"] == "error"
    assert reports(screen)[-1]["msg"].startswith("failed: exit 3 after ")


def test_work_that_cannot_be_started_is_an_error(terminal: Open) -> None:
    screen = terminal("--", "./nothing-of-that-name", env=ON)
    assert screen.ended() == 127
    assert [each["state"] for each in reports(screen)] == ["working", "error"]


def test_ctrl_c_leaves_no_report(terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "echo ready; exec sleep 1000", env=AUTO)
    answered(screen)
    screen.see("ready")
    screen.type(b"\x03")
    assert screen.ended() == 130
    assert reports(screen)[-1] == {"state": "clear", "id": "midwatch"}
    assert screen.modes() == screen.modes_before


def test_work_that_tells_its_progress_is_reported_with_it(box: Box, terminal: Open, go: Go) -> None:
    screen = terminal("--", "sh", "-c", "echo ready; read line < go", env=AUTO)
    answered(screen)
    screen.see("ready")
    assert box("beat", "--dir", str(box.dir), "--name", "job", "--note", "epoch 3", "--progress", "0.4").code == 0
    screen.see("progress=40")
    found = reports(screen)[-1]
    assert (found["state"], found["progress"], found["msg"]) == ("working", "40", "epoch 3")
    go()
    assert screen.ended() == 0
    assert reports(screen)[-1]["state"] == "done"


@pytest.mark.parametrize(
    ("manners", "seen"), [("stty raw -echo; echo ready", "ready\n"), ("printf '\\033]0;half a title'", "half a title")]
)
def test_nothing_is_written_into_a_screen_of_the_work(box: Box, terminal: Open, manners: str, seen: str) -> None:
    screen = terminal("--", "sh", "-c", f"{manners}; head -c 1", env=ON)
    screen.see(seen)
    assert box("beat", "--dir", str(box.dir), "--name", "job", "--progress", "0.4").code == 0
    before = screen.shown
    assert not screen.observe(within=2.5), f"{screen.shown[len(before) :]!r} was written into it"
    assert [each["state"] for each in reports(screen)] == ["working"]


def test_a_start_that_is_refused_leaves_no_report(box: Box, terminal: Open) -> None:
    assert box("run", "-d", "--name", "job", "--", "sleep", "1000").code == 0
    screen = terminal("--", "true", env=ON)
    assert screen.ended() == 125
    assert reports(screen) in ([], [{"state": "clear", "id": "midwatch"}])


# Who is known -------------------------------------------------------------------------------------------------


def test_a_terminal_that_is_known_is_not_asked_and_gets_a_bar_too(terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", "exit 3", env=AUTO | GHOSTTY)
    assert screen.ended() == 3
    assert QUERY not in screen.shown
    assert [each["state"] for each in reports(screen)] == ["working", "error"]
    assert bars(screen) == ["3;0", "2;100"]


def test_a_terminal_that_knows_bars_only_gets_them_only(terminal: Open) -> None:
    screen = terminal("--", "true", env=AUTO | {"WT_SESSION": "a-b-c"})
    answered(screen, ATTRIBUTES)
    assert screen.ended() == 0
    assert BAR.sub(b"", screen.shown) == QUERY
    assert bars(screen) == ["3;0", "0;0"]


def test_on_is_on_without_a_question(terminal: Open) -> None:
    screen = terminal("--", "true", env=ON)
    assert screen.ended() == 0
    assert [each["state"] for each in reports(screen)] == ["working", "done"]
    assert REPORT.sub(b"", screen.shown) == b""


# Who is not told anything -------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [AUTO, ON], ids=["auto", "on"])
@pytest.mark.parametrize(
    "env", [{"TMUX": "/tmp/tmux-0/default,1,0"}, {"STY": "1.x"}, {"TERM": "screen"}, {"TERM": "dumb"}], ids=str
)
def test_nothing_is_written_where_nobody_reads_it(terminal: Open, env: dict[str, str], more: dict[str, str]) -> None:
    screen = terminal("--", "echo", "hello", env=GHOSTTY | more | env)
    assert screen.ended() == 0
    assert screen.shown == b"hello\r\n"


def test_off_is_off(terminal: Open) -> None:
    screen = terminal("--", "echo", "hello", env=GHOSTTY | {"MIDWATCH_PROGRAM_STATUS": "off"})
    assert screen.ended() == 0
    assert screen.shown == b"hello\r\n"


def test_the_settings_file_turns_it_off(box: Box, terminal: Open) -> None:
    (box.cwd / "midwatch.toml").write_text('[terminal]\nprogram_status = "off"\n')
    screen = terminal("--", "echo", "hello", env=GHOSTTY | {"MIDWATCH_PROGRAM_STATUS": ""})
    assert screen.ended() == 0
    assert screen.shown == b"hello\r\n"


def test_a_word_that_is_none_of_the_three_is_an_error(box: Box) -> None:
    done = box("run", "--", "true", MIDWATCH_PROGRAM_STATUS="yes")
    assert (done.code, done.err.splitlines()[0]) == (
        2,
        "midwatch: MIDWATCH_PROGRAM_STATUS is one of auto, on, off, not 'yes'",
    )


def test_over_a_line_the_terminal_is_not_asked(terminal: Open) -> None:
    screen = terminal("--", "echo", "hello", env=AUTO | {"SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"})
    assert screen.ended() == 0
    assert screen.shown == b"hello\r\n"


def test_standard_error_elsewhere_gets_nothing_and_nor_does_the_terminal(box: Box, terminal: Open) -> None:
    with (box.cwd / "err").open("wb") as err:
        screen = terminal("--", "echo", "hello", env=GHOSTTY | ON, stderr=err)
        assert screen.ended() == 0
    assert screen.shown == b"hello\r\n"
    assert (box.cwd / "err").read_bytes() == b""


def test_pipes_get_what_the_work_writes_and_nothing_else(box: Box) -> None:
    done = box("run", "--name", "job", "--", "sh", "-c", "echo out; echo err >&2", **GHOSTTY, **ON)
    assert (done.code, done.out, done.err) == (0, "out\n", "err\n")


def test_in_the_background_the_terminal_is_not_asked(terminal: Open) -> None:
    screen = terminal("--", "echo", "hello", env=AUTO, background=True)
    assert screen.ended() == 0
    assert b"\x1b" not in screen.shown


# The question -------------------------------------------------------------------------------------------------


def test_what_is_typed_before_the_answer_reaches_the_work(terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", 'read line; echo "got <$line>"', env=AUTO)
    answered(screen, b"hel" + ATTRIBUTES + b"lo\r")
    assert screen.ended() == 0
    screen.see("got <hello>\r\n")
    assert reports(screen) == []
    assert screen.modes() == screen.modes_before


def test_what_is_typed_among_the_answers_of_one_that_understands_reaches_the_work(terminal: Open) -> None:
    screen = terminal("--", "sh", "-c", 'read line; echo "got <$line>"', env=AUTO)
    answered(screen, b"h" + YES + b"el" + ATTRIBUTES + b"lo\r")
    assert screen.ended() == 0
    screen.see("got <hello>\r\n")
    assert [each["state"] for each in reports(screen)] == ["working", "done"]


def test_a_terminal_that_does_not_answer_is_not_waited_for(terminal: Open) -> None:
    screen = terminal("--", "echo", "hello", env=AUTO)
    screen.see(re.escape(QUERY.decode("latin-1")))
    began = time.monotonic()
    screen.see("hello\r\n", within=SOON)
    assert 0.1 < time.monotonic() - began < SOON
    assert screen.ended() == 0
    assert screen.shown == QUERY + b"hello\r\n"
    assert screen.modes() == screen.modes_before


def test_who_is_typing_is_not_disturbed_by_a_question(box: Box, terminal: Open, go: Go) -> None:
    box.program = ["sh", "-c", 'read line < go; exec "$@"', "sh", *box.program]
    screen = terminal("--", "sh", "-c", 'echo ready; read line; echo "got <$line>"', env=AUTO)
    screen.type(b"half")
    screen.see("half")
    go()
    screen.see("ready")
    screen.type(b" a line\r")
    assert screen.ended() == 0
    screen.see("got <half a line>")
    assert QUERY not in screen.shown


@pytest.mark.parametrize("how", [b"\x03", signal.SIGTERM, signal.SIGHUP], ids=str)
def test_the_terminal_is_left_as_it_was_whatever_ends_the_question(terminal: Open, how: bytes | int) -> None:
    screen = terminal("--", "sh", "-c", "exec sleep 1000", env=AUTO)
    screen.see(re.escape(QUERY.decode("latin-1")))
    if isinstance(how, bytes):
        screen.type(how)
    else:
        kill(os.tcgetpgrp(screen.master), how)
    word, _, _ = screen.report(within=SOON)
    assert word == "ended"
    assert screen.modes() == screen.modes_before
    assert reports(screen)[-1:] in ([], [{"state": "clear", "id": "midwatch"}])
