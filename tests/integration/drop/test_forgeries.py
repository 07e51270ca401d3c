"""Whatever is put into a drop box, it changes nothing but what its own subject says of itself."""

from __future__ import annotations

import json
import os

import pytest

from tests.conftest import Box, alive, kill, until, until_gone
from tests.integration.drop.test_drop_box import drop
from tests.integration.wait.watching import Gate, listed, start, start_gated, within


def everything(box: Box, victim: int) -> dict[str, str]:
    """Every file that means something in a state directory, saying what would do the most harm."""
    record = box.record("job")
    forged = record | {
        "command": ["touch", str(box.cwd / "harm")], "shim": {"pid": victim, "start": 0},
        "work": {"pid": victim, "start": 0}, "end": {"state": "completed", "exit_code": 0},
    }  # fmt: skip
    files = {
        "json": json.dumps(forged), "pid": f"{victim}\n", "status": "SUCCESS\n", "halt": "9999999999\n",
        "ending": f"{record['run']}\tstuck\tno-progress\tforged\n{victim} 0\n", "seen": "{}", "conversation": "x y",
        "watch": "{}", "lock": "", "actor": "", "log": "forged\n",
    }  # fmt: skip
    return {f"{name}.{suffix}": text for name in ("job", "other") for suffix, text in files.items()} | {
        "other.beat": json.dumps({"schema": 1, "run": None, "note": "forged", "progress": 1}),
        "other.result": '"forged"', "spool": "", "archive": "", "trust": "", "drop": "", "mail": "",
    }  # fmt: skip


@pytest.fixture
def two(box: Box, gate: Gate) -> Box:
    """A job whose box is full of forgeries, and another."""
    start(box, "other", "sleep", "300")
    forged = box.cwd / "forged"
    start_gated(box, gate, "job", f"cp {forged}/* $MIDWATCH_DIR; touch {forged}/done; read x < {gate.path}; exit 3")
    forged.mkdir()
    for name, text in everything(box, os.getpid()).items():
        (forged / name).write_text(text)
    gate.say()
    until((forged / "done").exists, forged)
    return box


def test_every_face_says_what_it_said_before(two: Box, gate: Gate) -> None:
    assert {name: row["state"] for name, row in listed(two).items()} == {"job": "working", "other": "working"}
    assert "forged" not in two("why", "job").out + two("why", "other").out
    assert two("logs", "job").out == ""
    gate.say()
    done = two("wait", "job", "--json").json
    assert (done["state"], done["exit_code"], done["result"]) == ("failed", 3, None)
    assert listed(two)["other"]["state"] == "working"


def test_stop_ends_the_work_and_nothing_else(two: Box) -> None:
    _, work = two.pids("job")
    done = two("stop", "job", "--json")
    assert (done.code, done.json["state"]) == (0, "stopped")
    until_gone(work)
    assert alive(two.pids("other")[1])
    other = two("stop", "other", "--json")
    assert (other.code, other.json["state"]) == (0, "stopped")


def test_retry_runs_the_command_that_was_given(two: Box, gate: Gate) -> None:
    command = two.record("job")["command"]
    gate.say()
    assert two("wait", "job").code == 1
    assert two("retry", "job").code == 0
    assert two.record("job")["command"] == command
    gate.say()
    gate.say()
    assert two("wait", "job").code == 1
    assert not (two.cwd / "harm").exists()
    archived = json.loads((two.dir / "archive/job/000001/job.json").read_text())
    assert archived["command"] == command


def test_links_to_other_subjects_lead_nowhere(box: Box, gate: Gate) -> None:
    """A result is not read through a link, and starting again follows none."""
    start(box, "other", "sh", "-c", "echo 1 > $MIDWATCH_DIR/other.result; exec sleep 300")
    box.until_file("drop/other/other.result", lambda text: text == "1\n")
    script = "for each in beat result heartbeat; do ln -s ../other/other.$each $MIDWATCH_DIR/job.$each; done"
    script += "; ln -s ../../other.json $MIDWATCH_DIR/aaaaaa.md; ln -s .. $MIDWATCH_DIR/up"
    start_gated(box, gate, "job", script)
    before = box.path("other.json").read_bytes()
    gate.say()
    done = within(box, 20, "wait", "job", "--json").json
    assert (done["state"], done["result"]) == ("completed", None)
    assert within(box, 10, "mail", "inbox").code == 0
    for _ in range(12):
        start(box, "job", "sh", "-c", "cd $MIDWATCH_DIR && ln -s .. up && mkdir d && ln -s ../../.. d/up")
        assert box("wait", "job").code == 0
    assert box.path("other.json").read_bytes() == before
    assert (drop(box, "other") / "other.result").read_text() == "1\n"
    assert listed(box)["other"]["state"] == "working"


def test_a_beat_in_the_box_of_one_job_is_no_progress_of_another(box: Box) -> None:
    options = ("--progress", "beat", "--stale", "1s", "--grace", "1s")
    start(box, "other", "sleep", "300", options=options)
    start(box, "job", "sh", "-c", "while :; do touch $MIDWATCH_DIR/other.beat $MIDWATCH_DIR/job.beat; sleep 0.2; done",
          options=options)  # fmt: skip
    assert box("wait", "other", "--json").json["state"] == "stuck"
    assert listed(box)["job"]["state"] == "working"


def test_a_heartbeat_in_the_box_is_no_sign_of_its_shim(box: Box) -> None:
    """Whoever cannot see the processes, in a container, goes by the heartbeat of the shim."""
    script = "while :; do touch $MIDWATCH_DIR/job.heartbeat; sleep 0.2; done"
    start(box, "job", "sh", "-c", script, options=("--stale", "1s", "--grace", "1s"))
    box.path("job.json").write_text(json.dumps(box.record("job") | {"host": "elsewhere", "pidns": "pid:[1]"}))
    shim, work = box.pids("job")
    kill(shim, 9)
    until_gone(shim)
    try:
        done = within(box, 20, "wait", "job", "--json")
        assert (done.code, done.json["state"], alive(work)) == (12, "unknown", True)
    finally:
        kill(work, 9)
