"""In a sandbox the hooks of a session write to its drop box, and speak for nobody else."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from midwatch.agents.hooks import events
from midwatch.agents.hooks.spool import HookSpool
from midwatch.system import procfs
from tests.conftest import PATIENCE, tool
from tests.integration.hooks.calling import PANE, PLUGIN, SOCKET, Spool, pane, this_process
from tests.integration.hooks.test_plugin import DRIVER, event
from tests.integration.hooks.test_sense import Book

STOP = {"session_id": "c", "cwd": "/proj", "hook_event_name": "Stop"}


@pytest.fixture
def box(tmp_path: Path) -> Path:
    path = tmp_path / "drop" / "api"
    path.mkdir(parents=True)
    (path / "run").write_text("r\n\n")
    return path


def say(box: Path, name: str, *, agent: str = "claude", up: str = "", **more: str) -> None:
    """A line that the agent may have forged."""
    fields = {"pane": PANE, "tmux": f"{SOCKET},7,0", "pid": "1", "boot": procfs.boot_id()} | more
    up = up or procfs.read_text("/proc/uptime").split()[0]
    payload = json.dumps({"hook_event_name": name, "session_id": "c", "cwd": "/proj"})
    line = ("1", agent, fields["pane"], fields["tmux"], fields["pid"], fields["boot"], up, "", payload)
    with (box / f"{agent}.events").open("a") as file:
        file.write("\n" + "\t".join(line) + "\n")


def turn(box: Path, spool: Path | str = "/nowhere", where: str = PANE) -> str:
    found = HookSpool(str(spool)).read(this_process(), pane(where), box=str(box))
    return found.words["event"] if found else ""


# The hook -----------------------------------------------------------------------------------------------------------


def test_where_there_is_no_spool_the_hook_writes_to_the_box(spool: Spool, box: Path) -> None:
    spool.path.rmdir()
    spool.env["MIDWATCH_DIR"] = str(box)
    spool.call(STOP)
    assert {path.name for path in box.iterdir()} == {"run", "claude.events"}
    assert turn(box) == "Stop"


def test_where_there_is_a_spool_the_box_stays_empty(spool: Spool, box: Path) -> None:
    """A daemon runs the hooks of several sessions, with the environment of one of them."""
    spool.env["MIDWATCH_DIR"] = str(box)
    spool.call(STOP)
    assert [path.name for path in box.iterdir()] == ["run"]
    assert turn(box, spool.path) == "Stop"


def test_a_directory_that_is_no_box_is_left_alone(spool: Spool, box: Path) -> None:
    (box / "run").unlink()
    spool.path.rmdir()
    spool.env["MIDWATCH_DIR"] = str(box)
    spool.call(STOP)
    assert list(box.iterdir()) == []


@pytest.mark.parametrize("planted", ["fifo", "link", "directory"])
def test_what_is_planted_in_the_box_does_not_hold_up_the_hook(spool: Spool, box: Path, planted: str) -> None:
    file = box / "claude.events"
    if planted == "fifo":
        os.mkfifo(file)
    elif planted == "link":
        file.symlink_to(box / "elsewhere")
    else:
        file.mkdir()
    spool.path.rmdir()
    spool.env["MIDWATCH_DIR"] = str(box)
    spool.call(STOP)
    assert not (box / "elsewhere").exists()
    assert turn(box) == ""


def test_the_plugin_of_opencode_writes_to_the_box_too(tmp_path: Path, box: Path) -> None:
    (tmp_path / "midwatch.mjs").write_text(events.plugin_source(PLUGIN.read_text(), str(tmp_path / "gone")))
    (tmp_path / "driver.mjs").write_text(DRIVER)
    env = {"PATH": os.environ["PATH"], "TMUX": f"{SOCKET},12,0", "TMUX_PANE": PANE, "MIDWATCH_DIR": str(box)}
    told = json.dumps([event("session.idle")])
    subprocess.run(
        [tool("node"), "driver.mjs", told], cwd=tmp_path, env=env, check=True, timeout=PATIENCE, capture_output=True
    )
    found = HookSpool("/nowhere").read(this_process("opencode"), pane(), box=str(box))
    assert found is not None
    assert found.words["event"] == "session.idle"


# Forgeries ----------------------------------------------------------------------------------------------------------


def test_a_line_for_another_pane_speaks_for_the_owner_of_the_box_and_nobody_else(tmp_path: Path, box: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    Book(spool).write("UserPromptSubmit", where="%9")
    say(box, "Stop", pane="%9")
    assert turn(box, spool) == "Stop"
    assert turn(Path(), spool, "%9") == "UserPromptSubmit"


def test_a_box_does_not_say_which_conversation_is_meant(box: Path) -> None:
    """By that others are resumed, and their leases are named."""
    say(box, "Stop")
    found = HookSpool("/nowhere").read(this_process(), pane(), box=str(box))
    assert found is not None
    assert not {"conversation", "transcript", "cwd"} & found.words.keys()


@pytest.mark.parametrize("up", ["nan", "inf", "1e308", "-1", "soon", "9" * 3000])
def test_a_time_that_cannot_be_is_not_believed(box: Path, up: str) -> None:
    say(box, "Stop", up=up)
    assert turn(box) == ""


def test_a_huge_file_is_read_from_its_end(box: Path) -> None:
    file = box / "claude.events"
    file.touch()
    os.truncate(file, 1 << 30)
    sense = HookSpool("/nowhere")
    assert sense.read(this_process(), pane(), box=str(box)) is None
    say(box, "UserPromptSubmit")
    for _ in range(2):
        found = sense.read(this_process(), pane(), box=str(box))
        assert found is not None
        assert (found.words["event"], found.words["count"]) == ("UserPromptSubmit", "1")
    say(box, "Stop")
    found = sense.read(this_process(), pane(), box=str(box))
    assert found is not None
    assert (found.words["event"], found.words["count"]) == ("Stop", "2")


def test_a_line_without_an_end_is_not_kept(box: Path) -> None:
    sense = HookSpool("/nowhere")
    for _ in range(3):
        with (box / "claude.events").open("ab") as file:
            file.write(b"x" * (1 << 20))
        assert sense.read(this_process(), pane(), box=str(box)) is None
    say(box, "Stop")
    found = sense.read(this_process(), pane(), box=str(box))
    assert found is not None
    assert found.words["event"] == "Stop"
