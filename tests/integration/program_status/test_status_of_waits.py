"""`midwatch wait` and `midwatch monitor` on a terminal that is told what is waited for and what came of it."""

from __future__ import annotations

import pytest

from tests.conftest import Box
from tests.integration.program_status.reports import (
    ATTRIBUTES,
    AUTO,
    GHOSTTY,
    ON,
    QUERY,
    answered,
    bars,
    report,
    reports,
)
from tests.integration.run.terminals import Go, Open
from tests.integration.spawn.office import Office


def start(box: Box, name: str, script: str, *options: str) -> None:
    assert box("run", "-d", "--name", name, *options, "--", "sh", "-c", script).code == 0


# wait ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "code", "state", "msg"),
    [("exit 0", 0, "done", "completed: exit 0"), ("exit 3", 1, "error", "failed: exit 3"),
     ("kill -9 $$", 3, "error", "crashed: killed by SIGKILL")],
)  # fmt: skip
def test_a_wait_is_told_while_it_lasts_and_when_it_is_over(
    box: Box, terminal: Open, go: Go, script: str, code: int, state: str, msg: str
) -> None:
    start(box, "job", f"read line < go; {script}")
    screen = terminal("job", verb=["wait"], env=AUTO)
    answered(screen)
    assert report(screen, "working") == {
        "state": "working", "id": "midwatch", "app": "midwatch", "title": "job", "msg": "working",
    }  # fmt: skip
    go()
    assert screen.ended() == code
    assert reports(screen)[-1]["state"] == state
    assert reports(screen)[-1]["msg"].startswith(msg)
    assert screen.modes() == screen.modes_before


def test_progress_is_told_as_it_comes(box: Box, terminal: Open) -> None:
    start(box, "job", "exec sleep 1000")
    screen = terminal("job", verb=["wait"], env=AUTO | GHOSTTY)
    report(screen, "working")
    assert box("beat", "--dir", str(box.dir), "--name", "job", "--note", "epoch 3", "--progress", "0.4").code == 0
    screen.see("progress=40")
    assert reports(screen)[-1]["msg"] == "epoch 3"
    screen.see("9;4;1;40\x07")


def test_a_wait_that_is_interrupted_leaves_no_report(box: Box, terminal: Open) -> None:
    start(box, "job", "exec sleep 1000")
    screen = terminal("job", verb=["wait"], env=AUTO | GHOSTTY)
    report(screen, "working")
    screen.type(b"\x03")
    assert screen.ended() == 130
    assert reports(screen)[-1] == {"state": "clear", "id": "midwatch"}
    assert bars(screen)[-1] == "0;0"


def test_several_are_told_together(box: Box, terminal: Open, go: Go) -> None:
    start(box, "one", "exit 3")
    start(box, "two", "read line < go")
    screen = terminal("one", "two", verb=["wait"], env=ON)
    assert report(screen, "working")["msg"] == "1 of 2 go on"
    go()
    assert screen.ended() == 1
    assert (reports(screen)[-1]["state"], reports(screen)[-1]["title"]) == ("error", "one")


def test_a_wait_that_runs_out_of_time_is_an_error(box: Box, terminal: Open) -> None:
    start(box, "job", "exec sleep 1000")
    screen = terminal("job", "--timeout", "0", verb=["wait"], env=ON)
    assert screen.ended() == 13
    assert reports(screen)[-1]["state"] == "error"


def test_a_session_that_needs_a_person_is_blocked(office: Office, terminal: Open) -> None:
    office.spawned(prompt="work")
    screen = terminal("api", verb=["wait"], env=AUTO)
    answered(screen)
    report(screen, "working")
    office.go("ask")
    assert screen.ended() == 8
    found = reports(screen)[-1]
    assert (found["state"], found["kind"], found["title"]) == ("blocked", "permission", "api")
    assert found["msg"].startswith("waiting: it waits for a permission")


def test_a_terminal_that_does_not_understand_gets_no_report_and_keys_come_back(box: Box, terminal: Open) -> None:
    start(box, "job", "exit 0")
    screen = terminal("job", verb=["wait"], env=AUTO)
    answered(screen, b"l" + ATTRIBUTES + b"s\r")
    assert screen.ended() == 0
    assert reports(screen) == []
    assert screen.modes() == screen.modes_before
    # They wait for the next who reads this terminal; where the kernel forbids to put them back, they are named.
    assert screen.unread_keys() == b"ls\n" or b"is lost: l\r\n" in screen.shown, screen.shown


def test_pipes_get_what_they_always_got(box: Box) -> None:
    start(box, "job", "exit 0")
    for verb in ("wait", "monitor"):
        plain, told = box(verb, "job"), box(verb, "job", **GHOSTTY, **ON)
        assert (told.code, told.out, told.err) == (plain.code, plain.out, plain.err)
        assert "\x1b" not in told.out + told.err


def test_a_broken_settings_file_keeps_nobody_from_waiting(box: Box, terminal: Open) -> None:
    start(box, "job", "exit 0")
    (box.cwd / "midwatch.toml").write_text('[terminal]\nprogram_status = "loud"\n')
    screen = terminal("job", verb=["wait"], env=GHOSTTY | {"MIDWATCH_PROGRAM_STATUS": ""})
    assert screen.ended() == 0
    assert reports(screen) == []
    screen.see("midwatch.toml:2: program_status 'loud' is none of auto, on, off")


# monitor ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("then", "state", "kind"),
    [("say hello", "done", None), ("ask", "blocked", "permission"), ("stop", "blocked", None), ("fail", "error", None)],
)
def test_a_monitor_tells_what_became_of_a_turn(
    office: Office, terminal: Open, then: str, state: str, kind: str | None
) -> None:
    office.spawned(prompt="work")
    screen = terminal("api", verb=["monitor"], env=AUTO)
    answered(screen)
    report(screen, "working")
    office.until_watched("working")
    office.go(then)
    screen.ended()
    assert (reports(screen)[-1]["state"], reports(screen)[-1].get("kind")) == (state, kind)
    assert screen.modes() == screen.modes_before


def test_a_monitor_that_is_interrupted_leaves_no_report(office: Office, terminal: Open) -> None:
    office.spawned(prompt="work")
    screen = terminal("api", verb=["monitor"], env=ON)
    report(screen, "working")
    office.until_watched("working")
    screen.type(b"\x03")
    assert screen.ended() == 11
    assert reports(screen)[-1] == {"state": "clear", "id": "midwatch"}


def test_what_is_wrong_with_the_options_is_said_before_anything_is_asked(terminal: Open) -> None:
    screen = terminal("api", "--resume", "often", verb=["monitor"], env=AUTO)
    assert screen.ended() == 2
    assert QUERY not in screen.shown
