"""How `midwatch preflight` is told what to do, what it prints, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import select
import signal

import pytest

from tests.conftest import PATIENCE, Box, until, until_gone
from tests.integration.preflight.projects import Project


def test_a_table_for_people(project: Project) -> None:
    project.configure('[[check]]\nenv = "TOKEN"\n[[check]]\ncommand = "sh"\nname = "a shell"\n')
    done = project.run(PATH="/bin:/usr/bin")
    lines = done.out.splitlines()
    assert done.code == 1
    assert lines[0].startswith("ok      disk of the project")
    at = next(number for number, line in enumerate(lines) if line.startswith("FAILED  env TOKEN"))
    assert lines[at].endswith("TOKEN is not set")
    assert lines[at + 1] == "        fix: set TOKEN where you start the work, and look again"
    assert lines[at + 2].startswith("ok      a shell")
    assert lines[-1] == f"1 of {len(lines) - 2} checks failed"


def test_a_line_for_machines(project: Project) -> None:
    project.configure('[[check]]\nenv = "TOKEN"\nfix = "exit 1"\n')
    last = json.loads(project.run("--json").out.splitlines()[-1])
    assert last == {
        "schema": 1, "check": "env TOKEN", "kind": "env", "ok": False, "says": "TOKEN is not set", "fix": "exit 1",
        "advice": "set TOKEN where you start the work, and look again", "source": f"{project.root}/midwatch.toml:1",
        "ran": True,
    }  # fmt: skip


def test_findings_come_in_the_order_of_the_file_however_long_each_takes(project: Project) -> None:
    """Each waits for the next one, so they also must run at the same time."""
    os.mkfifo(project.root / "one")
    os.mkfifo(project.root / "two")
    runs = ["cat one", "cat two > one", "echo done > two"]
    project.configure("".join(f'[[check]]\nrun = "{run}"\nname = "{run}"\n' for run in runs))
    found = project.found()
    assert [name for name in found if name in runs] == runs
    assert all(found[run]["ok"] for run in runs), found


def test_more_programs_than_may_run_at_once_all_have_their_turn(project: Project) -> None:
    project.configure("".join(f'[[check]]\nrun = "exit {n % 2}"\nname = "{n}"\n' for n in range(40)))
    found = project.found()
    assert all(found[str(number)]["says"] == f"exit code {number % 2}" for number in range(40))


def test_checks_that_could_not_run_are_listed(project: Project, box: Box) -> None:
    project.configure('[[check]]\nenv = "TOKEN"\n[[check]]\nrun = "true"\n[[check]]\nmodule = "app"\n', trusted=False)
    done = project.run(PATH="/bin:/usr/bin")
    lines = done.out.splitlines()
    assert [line.split()[2:4] for line in lines if line.startswith("NOT RUN ")] == [["run", "true"], ["module", "app"]]
    assert lines[-1].endswith(" checks failed, 2 could not be run: run true, module app")
    ran = {name: each["ran"] for name, each in project.found().items()}
    assert (ran["env TOKEN"], ran["run true"], ran["module app"]) == (True, False, False)
    refused = box("run", "--preflight", "--", "true", TOKEN="x")
    assert refused.code == 125
    assert "2 of " in refused.err
    assert "checks could not be run: run true, module app; run true: not run: " in refused.err


def test_names_are_a_usage_error(project: Project) -> None:
    assert project.run("tests").code == 2


def test_settings_that_cannot_be_read_are_no_pass(project: Project) -> None:
    project.configure('[[check]]\nno-such-kind = "x"\n', trusted=False)
    done = project.run()
    assert done.code == 12
    assert f"{project.root}/midwatch.toml:" in done.err
    assert done.out == ""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_whoever_leaves_early_leaves_no_process_behind(project: Project, box: Box, number: int, code: int) -> None:
    text = "trap '' INT TERM HUP; (sleep 600) & echo $! > child; echo $$ > parent.new; mv parent.new parent; wait"
    project.configure(f'[[check]]\nrun = "{text}"\ntimeout = "10m"\n')
    process = box.start("preflight")
    until((project.root / "parent").exists, project.root)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in errors
    for name in ("parent", "child"):
        until_gone(int((project.root / name).read_text()))


def test_on_a_terminal_it_says_what_it_waits_for(project: Project, box: Box) -> None:
    os.mkfifo(project.root / "gate")
    project.configure('[[check]]\nrun = "cat gate"\nname = "the gate"\ntimeout = "10m"\n')
    ours, theirs = pty.openpty()
    process = box.start("preflight", stderr=theirs, env={"TERM": "xterm"})
    os.close(theirs)
    said = heard(ours, "waiting for the gate …".encode())
    (project.root / "gate").write_text("")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "waiting" not in out
    rest = heard(ours, None)
    assert (said + rest).endswith(b"\r\033[2K"), "the line goes when there is something to say"
    os.close(ours)


def heard(terminal: int, words: bytes | None) -> bytes:
    """All that comes from a terminal until some words have come, or until nobody can write to it any more."""
    said = b""
    while words is None or words not in said:
        ready, _, _ = select.select([terminal], [], [], PATIENCE)
        assert ready, said
        try:
            said += os.read(terminal, 1000)
        except OSError:
            break
    return said


# Before work --------------------------------------------------------------------------------------------------


def test_run_refuses_to_start_when_a_check_fails(project: Project, box: Box) -> None:
    project.configure('[[check]]\nenv = "TOKEN"\n')
    done = box("run", "--preflight", "--name", "work", "--", "touch", "was-run")
    assert done.code == 125
    assert "checks failed: env TOKEN: TOKEN is not set; `midwatch preflight` tells more" in done.err
    assert not (project.root / "was-run").exists()
    assert not box.path("work.json").exists()


def test_run_starts_when_all_checks_pass(project: Project, box: Box) -> None:
    project.configure('[run]\npreflight = true\n[[check]]\nenv = "TOKEN"\n')
    assert box("run", "--", "true").code == 125
    assert box("run", "--", "true", TOKEN="x").code == 0
