"""What a job may write is in its drop box; what it writes there is only data."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from tests.conftest import Box, alive, kill, until_gone
from tests.integration.wait.watching import Gate, planted_pipe, start, start_gated, within

BEAT = f"{sys.executable} -m midwatch beat"
HUGE = 1 << 30
LARGEST_RESULT = 16 << 20


def drop(box: Box, name: str = "job") -> Path:
    return box.dir / "drop" / name


def test_the_work_is_told_its_drop_box_and_writes_nothing_elsewhere(box: Box, gate: Gate) -> None:
    """Beat and result are in the box while it runs; records, status and pid are not."""
    script = f"{BEAT} --note hi; echo 7 > $MIDWATCH_DIR/$MIDWATCH_NAME.result; echo $MIDWATCH_DIR; read x < {gate.path}"
    start(box, "job", "sh", "-c", script)
    box.until_file("job.log", lambda text: text.endswith("\n"))
    assert box.path("job.log").read_text() == f"{drop(box)}\n"
    assert {path.name for path in drop(box).iterdir()} == {"run", "job.beat", "job.result"}
    assert not box.path("job.beat").exists()
    assert not box.path("job.result").exists()
    assert stat.S_IMODE(drop(box).stat().st_mode) == stat.S_IMODE(drop(box).parent.stat().st_mode) == 0o700
    assert "hi" in box("why", "job").out
    gate.say()
    assert box("wait", "job", "--json").json["result"] == 7


def test_the_shim_copies_the_result_beside_the_status(box: Box) -> None:
    start(box, "job", "sh", "-c", "echo '[1, 2]' > $MIDWATCH_DIR/job.result")
    assert box("wait", "job").code == 0
    assert box.path("job.result").read_text() == "[1, 2]\n"
    (drop(box) / "job.result").write_text("[3]\n")  # too late
    assert box("wait", "job", "--json").json["result"] == [1, 2]


def test_a_job_that_lost_its_shim_has_its_result_too(box: Box, gate: Gate) -> None:
    """Whoever writes the end in the shim's place copies the result."""
    start_gated(box, gate, "job", "echo 7 > $MIDWATCH_DIR/job.result; exec sleep 300")
    shim, work = box.pids("job")
    gate.say()
    box.until_file("drop/job/job.result", lambda text: text == "7\n")
    kill(shim, 9)
    until_gone(shim)
    assert box("stop", "job").code == 0
    assert not alive(work)
    assert box.path("job.result").read_text() == "7\n"


@pytest.mark.parametrize("size", [LARGEST_RESULT + 1, HUGE])
def test_a_result_that_is_too_large_is_noted_and_not_copied(box: Box, size: int) -> None:
    start(box, "job", "sh", "-c", f"truncate -s {size} $MIDWATCH_DIR/job.result")
    done = within(box, 20, "wait", "job", "--json")
    assert (done.code, done.json["result"]) == (0, None)
    assert not box.path("job.result").exists()
    assert box.record("job")["notes"] == [
        f"its result is not kept: it has {size} bytes, and {LARGEST_RESULT} are allowed"
    ]


@pytest.mark.parametrize("made", ["ln -s /etc/passwd", "ln -s $MIDWATCH_DIR/../../other.json", "mkfifo", "mkdir"])
@pytest.mark.parametrize("suffix", ["beat", "result", "heartbeat"])
def test_an_odd_file_in_the_box_is_at_most_a_note(box: Box, gate: Gate, made: str, suffix: str) -> None:
    start(box, "other", "sleep", "300")
    script = f"{made} $MIDWATCH_DIR/job.{suffix}; echo made; read x < {gate.path}"
    start(box, "job", "sh", "-c", script, options=("--progress", "output,beat,heartbeat"))
    box.until_file("job.log", lambda text: "made" in text)
    for verb in (("ls",), ("why", "job")):
        assert within(box, 10, *verb).code == 0
    gate.say()
    done = within(box, 20, "wait", "job", "--json")
    assert (done.code, done.json["state"], done.json["result"]) == (0, "completed", None)
    assert bool([note for note in box.record("job")["notes"] if "result" in note]) == (suffix == "result")


def test_a_huge_beat_is_a_trouble_that_why_tells(box: Box, gate: Gate) -> None:
    start(box, "job", "sh", "-c", f"truncate -s {HUGE} $MIDWATCH_DIR/job.beat; echo made; read x < {gate.path}")
    box.until_file("job.log", lambda text: "made" in text)
    assert "job.beat cannot be read" in within(box, 10, "why", "job").out
    assert within(box, 10, "ls").code == 0


def test_work_that_removes_its_box_loses_only_its_words(box: Box) -> None:
    start(box, "job", "sh", "-c", f"rm -r $MIDWATCH_DIR; {BEAT} --note hi; exit 3")
    done = box("wait", "job", "--json")
    assert (done.json["state"], done.json["exit_code"]) == ("failed", 3)
    assert "cannot write" in box("logs", "job").out


def test_the_next_run_finds_an_empty_box_and_the_last_one_is_in_the_archive(box: Box) -> None:
    start(box, "job", "sh", "-c", f"{BEAT} --note old; echo 7 > $MIDWATCH_DIR/job.result; mkdir -p $MIDWATCH_DIR/a/b")
    assert box("wait", "job").code == 0
    inode = drop(box).stat().st_ino
    start(box, "job", "sleep", "300")
    assert [path.name for path in drop(box).iterdir()] == ["run"]
    assert (drop(box) / "run").read_text().splitlines()[0] == box.record("job")["run"]
    assert drop(box).stat().st_ino == inode  # what is mounted into a container stays so
    kept = box.dir / "archive" / "job" / "000001"
    assert json.loads((kept / "drop" / "job" / "job.beat").read_text())["note"] == "old"
    assert (kept / "job.result").read_text() == "7\n"
    assert "old" not in box("why", "job").out


def test_old_boxes_go_with_the_runs_that_they_belong_to(box: Box) -> None:
    deep = f'{sys.executable} -c \'import os; [(os.mkdir("a"), os.chdir("a")) for _ in range(3000)]\''
    for number in range(12):
        more = "mkdir -p a/b; ln -s / a/root" if number else deep
        start(box, "job", "sh", "-c", f"cd $MIDWATCH_DIR && {more}")
        assert box("wait", "job").code == 0
    assert sorted(path.name for path in (box.dir / "archive" / "job").iterdir()) == [f"{n:06d}" for n in range(2, 12)]


def test_an_attempt_does_not_inherit_the_words_of_the_last_one(box: Box) -> None:
    script = f"test $MIDWATCH_ATTEMPT = 2 && exit 0; {BEAT} --note first; echo 1 > $MIDWATCH_DIR/job.result; exit 1"
    start(box, "job", "sh", "-c", script, options=("--retries", "1", "--backoff", "0"))
    done = box("wait", "job", "--json")
    assert (done.code, done.json["result"]) == (0, None)
    assert not (drop(box) / "job.beat").exists()


def test_a_link_in_place_of_the_box_starts_nothing(box: Box) -> None:
    (box.dir / "drop").mkdir(parents=True, mode=0o700)
    drop(box).symlink_to(box.cwd)
    done = box("run", "-d", "--name", "job", "--", "true")
    assert done.code == 125
    assert "is a symbolic link" in done.err


def test_a_beat_for_another_run_is_not_shown(box: Box) -> None:
    start(box, "job", "sleep", "300")
    beat = {"schema": 1, "run": "0-of-yesterday", "note": "forged", "progress": 0.5}
    (drop(box) / "job.beat").write_text(json.dumps(beat))
    assert "forged" not in box("why", "job").out


def test_a_box_is_no_directory_of_jobs(box: Box) -> None:
    """What is in it would be believed as the files of another's steps are."""
    start(box, "job", "sleep", "300")
    (drop(box) / "step.pid").write_text(f"{os.getpid()}\n")
    for verb in (["ls"], ["stop", "step"], ["wait", "step"], ["run", "-d", "--", "true"]):
        done = box(verb[0], "--dir", str(drop(box)), *verb[1:])
        assert done.code in (2, 125), done
        assert f"is the drop box of job; its jobs are in {box.dir}" in done.err


def test_a_job_of_the_first_release_has_its_files_in_one_directory(box: Box, gate: Gate) -> None:
    """Its shim goes on after an upgrade, and so does what it runs."""
    start(box, "job", "sh", "-c", f"read x < {gate.path}")
    record = box.record("job")
    old = {"MIDWATCH_DIR": str(box.dir), "MIDWATCH_NAME": "job", "MIDWATCH_RUN": record["run"]}
    del record["drop"]
    box.path("job.json").write_text(json.dumps(record))
    assert box("beat", "--note", "as ever", **old).code == 0
    assert json.loads(box.path("job.beat").read_text())["note"] == "as ever"
    assert "as ever" in box("why", "job").out


def test_a_planted_pipe_does_not_make_a_beat_wait(box: Box) -> None:
    start(box, "job", "sleep", "300")
    (drop(box) / "run").unlink()
    with planted_pipe(drop(box) / "run"):
        done = within(box, 5, "beat", "--note", "x", **marks(box))
    assert done.code == 0


def marks(box: Box, name: str = "job") -> dict[str, str]:
    return {"MIDWATCH_DIR": str(drop(box, name)), "MIDWATCH_NAME": name, "MIDWATCH_RUN": box.record(name)["run"]}
