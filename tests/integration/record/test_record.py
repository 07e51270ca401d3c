"""`midwatch record`: what is seen of a pane, as lines that can be judged again."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.agents import catalog
from midwatch.replay import golden_runner
from tests.conftest import Box, kill, until
from tests.integration.panes.agent import show
from tests.integration.panes.private import Private


@pytest.fixture
def private(tmp_path: Path) -> Iterator[Private]:
    found = Private(tmp_path / "s")
    yield found
    found.end()


def test_a_recording_is_judged_again_as_it_was_seen(box: Box, private: Private, tmp_path: Path) -> None:
    pane = show(private, tmp_path, "claude", "permission-bash")
    out = tmp_path / "t.jsonl"
    done = box("record", pane, *private.server, "-o", str(out), "--every", "0.1s", "--for", "0.5s")
    assert done.code == 0
    assert "time is up" in done.err
    again = golden_runner.replay_timeline(str(out), catalog.Detectors())
    assert len(again.moments) > 1
    assert {moment.verdict.turn for moment in again.moments} == {"waiting"}


def test_keys_and_home_are_taken_out_unless_asked_for(box: Box, private: Private, tmp_path: Path) -> None:
    key = "sk-ant-" + "a" * 30
    (tmp_path / "claude").symlink_to("/bin/sleep")
    secret = f"key {key} in {box.env['HOME']}/x"
    pane = private.start(f"stty -echo; echo '{secret}'; exec {tmp_path}/claude 1000", size=(200, 5))
    private.until_shows(pane, "key sk-ant")
    told = box("record", pane, *private.server, "--for", "0.1s").out
    assert key not in told
    assert "in /home/user/x" in told
    assert secret in box("record", pane, *private.server, "--for", "0.1s", "--raw").out


def test_it_ends_when_the_pane_is_gone(box: Box, private: Private, tmp_path: Path) -> None:
    private.start("cat")
    pane = show(private, tmp_path, "claude", "idle-fresh")
    out = tmp_path / "t.jsonl"
    going = box.start("record", pane, *private.server, "-o", str(out), "--every", "0.05s")
    until(lambda: out.exists() and out.read_text().count("\n") > 1)
    private("kill-pane", "-t", pane)
    _, err = going.communicate(timeout=30)
    assert going.returncode == 0
    assert f"pane {pane} is gone" in err


def test_a_server_that_does_not_answer_is_said_once_and_waited_for(box: Box, private: Private, tmp_path: Path) -> None:
    pane = show(private, tmp_path, "claude", "idle-fresh")
    out = tmp_path / "t.jsonl"
    going = box.start("record", pane, *private.server, "-o", str(out), "--every", "0.05s")
    until(lambda: out.exists() and out.read_text().count("\n") > 2)
    server = private.pid
    kill(server, signal.SIGSTOP)
    try:
        assert going.stderr is not None
        assert "kill -CONT" in going.stderr.readline()
    finally:
        kill(server, signal.SIGCONT)
    before = out.read_text().count("\n")
    until(lambda: out.read_text().count("\n") > before + 2)
    private("kill-pane", "-t", pane)
    _, err = going.communicate(timeout=30)
    assert "kill -CONT" not in err
    assert "gone" in err


def test_ctrl_c_leaves_a_whole_file(box: Box, private: Private, tmp_path: Path) -> None:
    pane = show(private, tmp_path, "claude", "idle-fresh")
    out = tmp_path / "t.jsonl"
    going = box.start("record", pane, *private.server, "-o", str(out), "--every", "0.05s")
    until(lambda: out.exists() and out.read_text().count("\n") > 2)
    going.send_signal(signal.SIGINT)
    going.communicate(timeout=30)
    assert going.returncode == 0
    first, *looks = [json.loads(line) for line in out.read_text().splitlines()]
    assert first["midwatch"] == "timeline"
    assert len(looks) > 1


def test_a_file_that_is_there_is_not_overwritten(box: Box, private: Private, tmp_path: Path) -> None:
    pane = show(private, tmp_path, "claude", "idle-fresh")
    (tmp_path / "t.jsonl").write_text("mine")
    done = box("record", pane, *private.server, "-o", str(tmp_path / "t.jsonl"))
    assert done.code == 2
    assert (tmp_path / "t.jsonl").read_text() == "mine"


@pytest.mark.parametrize("arguments", [[], ["build"], ["%1", "%2"], ["%1", "--every", "0"]])
def test_usage(box: Box, arguments: list[str]) -> None:
    assert box("record", *arguments).code == 2


def test_a_pane_without_an_agent_is_not_recorded(box: Box, private: Private) -> None:
    done = box("record", private.start("cat"), *private.server)
    assert (done.code, done.out) == (7, "")
