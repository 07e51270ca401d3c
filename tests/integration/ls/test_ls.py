import json
import os
import shlex
import signal
from pathlib import Path

import pytest

from tests.conftest import Box, kill, reap, until_gone
from tests.integration.wait.watching import KEYS, Gate, Stopwatch, allowed, listed, start, within


def test_what_needs_a_person_comes_first_and_ended_jobs_last_the_newest_first(box: Box) -> None:
    for name in ("beta", "alpha", "gamma"):
        start(box, name, "true")
        assert box("wait", name).code == 0
    start(box, "works", "sleep", "300")
    start(box, "zzz", "sleep", "300")
    os.kill(box.pids("zzz")[1], signal.SIGSTOP)
    assert box("wait", "zzz").code == 8
    rows = box("ls").out.splitlines()
    assert rows[0].split() == ["NAME", "STATE", "TIME", "ENDED", "REASON"]
    assert [row.split()[:2] for row in rows[1:]] == [
        ["zzz", "waiting"], ["works", "working"],
        ["gamma", "completed"], ["alpha", "completed"], ["beta", "completed"],
    ]  # fmt: skip
    assert [row.split()[4] for row in rows[3:]] == ["ago"] * 3
    assert [json.loads(line)["name"] for line in box("ls", "--json").out.splitlines()] == [
        "alpha", "beta", "gamma", "works", "zzz",
    ]  # fmt: skip


def test_where_nothing_has_ended_there_is_no_such_column(box: Box) -> None:
    start(box, "works", "sleep", "300")
    assert box("ls").out.splitlines()[0].split() == ["NAME", "STATE", "TIME", "REASON"]


def test_the_note_of_a_beat_is_shown_as_long_as_the_job_goes_on(box: Box, gate: Gate) -> None:
    beat = shlex.join([*box.program, "beat", "--note", "epoch\x1b[2J 3", "--progress", "0.4"])
    start(box, "train", "sh", "-c", f"{beat}; read -r line < {gate.path}")
    box.until_file("drop/train/train.beat", lambda text: "epoch" in text)
    assert "40% epoch\\e[2J 3 · " in box("ls").out
    told = box("ls", "--json").json
    assert (told["note"], told["done"], told["ended_at"]) == ("epoch\x1b[2J 3", 0.4, None)
    gate.say()
    assert box("wait", "train").code == 0
    assert "epoch" not in box("ls").out
    told = box("ls", "--json").json
    assert (told["note"], told["done"], told["ended_at"]) == (None, None, box.record("train")["end"]["at"])


def test_every_state_is_judged_on_the_spot(box: Box) -> None:
    start(box, "fine", "true")
    start(box, "fail", "false")
    start(box, "crash", "sh", "-c", "kill -9 $$")
    start(box, "late", "sleep", "300", options=("--timeout", "100ms"))
    start(box, "ended", "sleep", "300")
    start(box, "works", "sleep", "300")
    start(box, "paused", "sleep", "300")
    start(box, "alone", "sleep", "300")
    assert box("stop", "ended").code == 0
    os.kill(box.pids("paused")[1], signal.SIGSTOP)
    kill(box.pids("alone")[0], signal.SIGKILL)
    until_gone(box.pids("alone")[0])
    box("wait", "fine", "fail", "crash", "late", "paused")
    found = {name: row["state"] for name, row in listed(box).items()}
    assert found == {
        "fine": "completed", "fail": "failed", "crash": "crashed", "late": "timeout", "ended": "stopped",
        "works": "working", "paused": "waiting", "alone": "working",
    }  # fmt: skip
    assert "unsupervised" in listed(box)["alone"]["reason"]


def test_json_lines_have_the_keys_of_wait(box: Box) -> None:
    start(box, "job", "true")
    assert box("wait", "job").code == 0
    told = box("ls", "--json").json
    assert list(told) == [*KEYS, "ended_at", "note", "done"]
    assert {key: told[key] for key in KEYS} == box("wait", "job", "--json").json


def test_a_job_whose_processes_are_gone_is_listed_as_crashed(box: Box) -> None:
    start(box, "job", "sleep", "300")
    for pid in box.pids("job"):
        kill(pid, signal.SIGKILL)
        until_gone(pid)
    assert listed(box)["job"]["state"] == "crashed"


def test_without_jobs_standard_output_is_empty_and_a_hint_is_given(box: Box) -> None:
    done = box("ls")
    assert (done.code, done.out) == (0, "")
    assert "no jobs here" in done.err


def test_without_jobs_json_is_silent(box: Box) -> None:
    done = box("ls", "--json")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_names_choose_what_is_listed(box: Box) -> None:
    for name in ("one", "two", "three"):
        start(box, name, "true")
        assert box("wait", name).code == 0
    assert list(listed(box, "one", "two")) == ["one", "two"]
    done = box("ls", "one", "nobody")
    assert (done.code, [row.split()[:2] for row in done.out.splitlines()[1:]]) == (
        7, [["one", "completed"], ["nobody", "not_found"]],
    )  # fmt: skip
    assert box("ls", "one", "--panes").code == box("ls", "one", "--all").code == 2


@pytest.mark.usefixtures("heir")
def test_listing_changes_nothing(box: Box) -> None:
    start(box, "job", "true")
    assert box("wait", "job").code == 0
    start(box, "gone", "sleep", "300")
    for pid in box.pids("gone"):
        kill(pid, signal.SIGKILL)
        reap(pid)
    before = {path: path.stat().st_mtime_ns for path in box.dir.rglob("*")}
    assert box("ls").code == 0
    assert {path: path.stat().st_mtime_ns for path in box.dir.rglob("*")} == before


def test_archived_runs_are_not_listed(box: Box) -> None:
    for _ in range(2):
        start(box, "job", "true")
        assert box("wait", "job").code == 0
    assert list(listed(box)) == ["job"]


def ten_thousand(box: Box) -> None:
    """Jobs that have ended, one in ten of them well."""
    box.dir.mkdir(mode=0o700)
    for name, text in (("fine", "SUCCESS\n"), ("fail", "FAILED\n")):
        (box.cwd / name).write_text(text)
    for number in range(10_000):
        os.link(box.cwd / ("fail" if number % 10 else "fine"), f"{box.dir}/job-{number:05d}.status")


def test_ten_thousand_jobs_are_listed(box: Box) -> None:
    ten_thousand(box)
    rows = listed(box)
    assert len(rows) == 10_000
    assert sum(row["state"] == "completed" for row in rows.values()) == 1000


def test_ten_thousand_jobs_do_not_slow_a_wait_for_one(box: Box) -> None:
    ten_thousand(box)
    watch = Stopwatch()
    assert box("wait", "job-00010").code == 0
    assert watch.seconds < allowed(2.0)


def test_a_directory_that_others_may_write_to_is_listed_with_a_warning(box: Box) -> None:
    start(box, "job", "true")
    assert box("wait", "job").code == 0
    box.dir.chmod(0o777)
    done = box("ls", "--json")
    assert done.json["state"] == "completed"
    assert "warning: others may write" in done.err


# Projects -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def projects(box: Box) -> list[Path]:
    """Two projects, and no directory given by the environment."""
    del box.env["MIDWATCH_HOME"]
    box.env["XDG_STATE_HOME"] = str(box.cwd / "state")
    box.dir = box.cwd / "state" / "midwatch"
    found = [box.cwd / "one", box.cwd / "two"]
    for project in found:
        (project / ".git").mkdir(parents=True)
        (project / "deep" / "down").mkdir(parents=True)
        box.cwd = project / "deep" / "down"
        start(box, f"job-of-{project.name}", "true")
        assert box("wait", f"job-of-{project.name}").code == 0
    return found


def test_jobs_belong_to_the_project_wherever_one_stands_in_it(box: Box, projects: list[Path]) -> None:
    box.cwd = projects[0]
    assert list(listed(box)) == ["job-of-one"]
    box.cwd = projects[1]
    assert list(listed(box)) == ["job-of-two"]


def test_all_lists_the_jobs_of_all_projects(box: Box, projects: list[Path]) -> None:
    assert len(projects) == 2
    assert sorted(listed(box, "--all")) == ["job-of-one", "job-of-two"]


def test_all_says_which_project_a_job_is_of(box: Box, projects: list[Path]) -> None:
    told = box("ls", "--all").out
    assert [project.name for project in projects if f"{project.name}-" in told] == ["one", "two"]


def test_all_passes_over_what_is_no_directory(box: Box, projects: list[Path]) -> None:
    (box.dir / "stray").write_text("not a project\n")
    assert len(listed(box, "--all")) == len(projects)


def test_all_without_any_project_is_empty(box: Box) -> None:
    del box.env["MIDWATCH_HOME"]
    done = within(box, 5, "ls", "--all", "--json", XDG_STATE_HOME=str(box.cwd / "state"))
    assert (done.code, done.out) == (0, "")


def test_the_directory_of_a_project_is_0700(box: Box, projects: list[Path]) -> None:
    assert len(projects) == 2
    assert {oct(path.stat().st_mode & 0o777) for path in box.dir.iterdir()} == {"0o700"}
