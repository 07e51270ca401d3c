"""The hook keeps what an agent tells it."""

import fcntl
import json
import os
import stat
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest

from midwatch.agents.hooks import events as hooks_events
from midwatch.agents.hooks.spool import HookSpool
from midwatch.system import procfs
from tests.conftest import tool, until
from tests.integration.hooks.calling import SCRIPT, Spool, ended_well, pane, this_process

STOP = {"session_id": "c", "transcript_path": "/t", "cwd": "/proj", "hook_event_name": "Stop", "background_tasks": []}
LARGEST = 1 << 20


def events(spool: Spool) -> list[hooks_events.HookEvent]:
    found = [hooks_events.parse_event(line.decode()) for line in spool.lines()]
    return [each for each in found if each is not None]


def test_an_event_says_where_when_and_from_whom(spool: Spool) -> None:
    before = time.time()
    spool.call(STOP)
    found = HookSpool(str(spool.path)).read(this_process(), pane())
    assert found is not None
    assert found.source == "hook"
    assert found.at is not None
    assert before - 0.1 < found.at < time.time() + 0.1
    assert found.words["event"] == found.words["latest"] == "Stop"
    assert (found.words["conversation"], found.words["background"], found.words["count"]) == ("c", "0", "1")
    (event,) = events(spool)
    assert (event.pid, event.pane, event.server) == (os.getpid(), "%3", "/tmp/midwatch-test/default")


def test_nobody_else_may_read_it(spool: Spool) -> None:
    spool.call(STOP)
    assert stat.S_IMODE(spool.file.stat().st_mode) == 0o600


def test_when_the_hook_has_ended_the_event_is_there_in_its_place(spool: Spool) -> None:
    for number in range(5):
        spool.call(STOP | {"session_id": str(number)})
    assert [each.conversation for each in events(spool)] == list("01234")
    moments = [each.up for each in events(spool)]
    assert moments == sorted(moments)


def test_an_argument_is_a_payload_too_and_standard_input_is_left_alone(spool: Spool) -> None:
    told = {"type": "agent-turn-complete", "thread-id": "t", "cwd": "/proj", "input-messages": ["hi"]}
    quiet, never_written = os.pipe()
    process = spool.start(json.dumps(told), agent="claude", stdin=quiet)
    os.close(quiet)
    ended_well(process)
    os.close(never_written)
    (event,) = events(spool)
    assert (event.name, event.conversation, event.words["cwd"]) == ("agent-turn-complete", "t", "/proj")


def test_outside_tmux_the_conversation_still_leads_to_it(spool: Spool) -> None:
    spool.call(STOP, env={"PATH": spool.env["PATH"]})
    assert [each.name for each in spool.path.iterdir()] == ["claude.events"]
    sense = HookSpool(str(spool.path))
    assert sense.read(this_process(), pane()) is None
    found = sense.read(this_process(), pane(), "c")
    assert found is not None
    assert found.words["event"] == "Stop"


def test_the_command_that_is_written_into_settings_runs_it(spool: Spool, tmp_path: Path) -> None:
    script = tmp_path / "a script's path.sh"
    script.write_bytes(SCRIPT.read_bytes())
    command = hooks_events.hook_command(str(script), str(spool.path), "claude")
    done = subprocess.run([*spool.shell, "-c", command], input=json.dumps(STOP).encode(), env=spool.env, check=True,
                          capture_output=True)  # fmt: skip
    assert (done.stdout, done.stderr) == (b"", b"")
    (event,) = events(spool)
    assert event.pid == os.getpid(), "the shell has become the hook, and the agent is its parent"


# Long payloads ------------------------------------------------------------------------------------------------------


def long(size: int, filler: str) -> dict[str, Any]:
    text = filler * (size // len(filler))
    return STOP | {"last_assistant_message": text, "background_tasks": [{"id": "1"}], "session_crons": []}


@pytest.mark.parametrize("size", [2_000, 3_000, 60_000, 70_000, 5_000_000])
@pytest.mark.parametrize("filler", ["word, ", '"quoted": {', "üß… ", "x"], ids=["commas", "quotes", "utf-8", "plain"])
def test_of_a_long_payload_both_ends_are_kept_and_all_of_it_is_read(either: Spool, size: int, filler: str) -> None:
    told = long(size, filler)
    told["tool_use_id"] = told.pop("session_id")
    either.call(json.dumps({"session_id": "c"} | told, ensure_ascii=False).encode())
    (line,) = either.lines()
    assert len(line) < 4096
    found = hooks_events.parse_event(line.decode("utf-8", "replace"))
    assert found is not None
    assert (found.conversation, found.name, found.words["tool_id"]) == ("c", "Stop", "c")
    assert found.words.get("background") == "1"


def test_a_payload_spread_over_lines_becomes_one(spool: Spool) -> None:
    spool.call(json.dumps(STOP, indent=2).encode() + b"\n\n")
    (event,) = events(spool)
    assert event.words["transcript"] == "/t"


@pytest.mark.parametrize("size", [0, 5_000])
def test_a_payload_in_pieces_is_put_together(either: Spool, size: int) -> None:
    text = json.dumps(long(size, "word, ")).encode()
    ours, theirs = either.ends()
    process = either.start(stdin=theirs)
    os.close(theirs)
    with open(ours, "wb", buffering=0) as pipe:
        for at in range(0, len(text), 400):
            pipe.write(text[at : at + 400])
            until(lambda: unread(pipe.fileno(), process) == 0)
    ended_well(process)
    (event,) = events(either)
    assert (event.name, event.words["background"]) == ("Stop", "1")


def unread(ours: int, process: "subprocess.Popen[bytes]") -> int:
    """Bytes that the hook has not taken yet; 0 once it has ended."""
    if process.poll() is not None:
        return 0
    request = termios.TIOCOUTQ if stat.S_ISSOCK(os.fstat(ours).st_mode) else termios.FIONREAD
    return int.from_bytes(fcntl.ioctl(ours, request, b"\0" * 4), sys.byteorder)


def test_a_payload_that_comes_late_is_waited_for(either: Spool) -> None:
    ours, theirs = either.ends()
    process = either.start(stdin=theirs)
    os.close(theirs)
    waits = "dd" if either.shell[0].endswith("busybox") else "sleep" if either.sockets else "timeout"
    until(lambda: waits in map(procfs.command_name, procfs.descendants(process.pid)))
    with open(ours, "wb") as pipe:
        pipe.write(json.dumps(STOP).encode())
    ended_well(process)
    (event,) = events(either)
    assert event.name == "Stop"


def test_nobody_elses_end_of_a_pipe_is_changed(spool: Spool) -> None:
    ours, theirs = spool.ends()
    os.write(ours, json.dumps(STOP).encode())
    ended_well(spool.start(stdin=theirs))
    assert not fcntl.fcntl(theirs, fcntl.F_GETFL) & os.O_NONBLOCK
    os.close(ours)
    os.close(theirs)
    assert len(events(spool)) == 1


# Many at once, and for long -------------------------------------------------------------------------------------------


def test_hundreds_at_once_lose_nothing_and_tear_nothing(spool: Spool) -> None:
    count = 300
    processes = []
    for number in range(count):
        processes.append(spool.start())
        stdin = processes[-1].stdin
        assert stdin is not None
        with stdin:
            stdin.write(json.dumps(STOP | {"session_id": str(number), "last_assistant_message": "x, " * 1200}).encode())
    for process in processes:
        ended_well(process)
    found = events(spool)
    assert len(found) == count
    assert {each.conversation for each in found} == set(map(str, range(count)))
    assert all(each.words["background"] == "0" for each in found)


def test_a_file_that_is_full_is_moved_aside_and_no_event_is_lost_even_then(spool: Spool) -> None:
    spool.call(STOP | {"session_id": "first"})
    line = b"\n" + spool.lines()[0] + b"\n"
    old = line * ((LARGEST - 3000) // len(line))
    spool.file.write_bytes(old)
    count = 60
    processes = []
    for number in range(count):
        processes.append(spool.start())
        stdin = processes[-1].stdin
        assert stdin is not None
        with stdin:
            stdin.write(json.dumps(STOP | {"session_id": str(number), "reason": "x" * 800}).encode())
    for process in processes:
        ended_well(process)
    aside = Path(f"{spool.file}.1")
    assert {each.name for each in spool.path.iterdir()} == {spool.file.name, aside.name}
    assert aside.read_bytes().startswith(old)
    assert LARGEST - 3000 < aside.stat().st_size <= 2 * LARGEST
    found = HookSpool(str(spool.path)).read(this_process(), pane())
    assert found is not None
    assert int(found.words["count"]) >= count
    told = [line for line in aside.read_bytes().split(b"\n") + spool.lines() if line]
    kept = {hooks_events.parse_payload(line.decode().split("\t", 8)[-1]).get("session_id") for line in told}
    assert kept >= {*map(str, range(count)), "first"}


def test_a_lock_that_a_killed_hook_left_is_not_for_ever(spool: Spool) -> None:
    spool.call(STOP)
    spool.file.write_bytes((spool.file.read_bytes() * 20_000)[: 2 * LARGEST])
    Path(f"{spool.file}.lock").touch()
    spool.call(STOP | {"session_id": "lost"})  # nothing can be written, and it may not move the file
    spool.call(STOP | {"session_id": "kept"})
    assert [each.conversation for each in events(spool)] == ["kept"]
    assert Path(f"{spool.file}.1").stat().st_size == 2 * LARGEST


def test_the_hook_has_no_fault_that_shellcheck_knows() -> None:
    done = subprocess.run([tool("shellcheck"), "--shell=sh", str(SCRIPT)], capture_output=True, text=True, check=False)
    assert done.stdout == ""
