"""`midwatch preflight --fix`: what the settings give to mend a failure, and nothing else."""

from __future__ import annotations

import signal
import subprocess
import sys

from tests.conftest import Box, alive, kill, until, until_gone
from tests.integration.preflight.projects import Project


def test_a_fix_is_run_and_everything_is_checked_again(project: Project) -> None:
    project.configure('[[check]]\nrun = "test -f made"\nfix = "echo making it; touch made"\n')
    done = project.run("--fix")
    assert done.code == 0, done
    assert "FAILED" not in done.out
    assert done.err == "midwatch: run test -f made: running its fix: echo making it; touch made\nmaking it\n"


def test_nothing_is_run_when_all_is_well(project: Project) -> None:
    project.configure('[[check]]\nrun = "true"\nfix = "touch was-run"\n')
    assert project.run("--fix").code == 0
    assert not (project.root / "was-run").exists()


def test_nothing_is_run_unless_it_is_asked_for(project: Project) -> None:
    project.configure('[[check]]\nrun = "false"\nfix = "touch was-run"\nname = "no"\n')
    done = project.run()
    assert done.code == 1
    assert f"fix: touch was-run  ({project.root}/midwatch.toml:1; `--fix` runs it)" in done.out
    assert not (project.root / "was-run").exists()


def test_each_fix_is_run_once_in_the_order_of_the_checks(project: Project) -> None:
    checks = [("a", "echo one >> made"), ("b", "echo two >> made"), ("c", "echo one >> made")]
    project.configure("".join(f'[[check]]\ncommand = "./{name}"\nfix = "{fix}"\n' for name, fix in checks))
    assert project.run("--fix").code == 1
    assert (project.root / "made").read_text() == "one\ntwo\n"


def test_a_fix_that_fails_is_said_with_its_exit_code(project: Project) -> None:
    project.configure('[[check]]\nrun = "false"\nfix = "exit 7"\nname = "no"\n')
    done = project.run("--fix")
    assert done.code == 1
    assert "exit code 1; its fix ended with exit code 7" in done.out
    assert "midwatch: no: its fix ended with exit code 7" in done.err


def test_a_fix_that_does_not_help_is_said(project: Project) -> None:
    project.configure('[[check]]\nrun = "false"\nfix = "true"\nname = "no"\n')
    assert project.failed("--fix")["no"] == "exit code 1; its fix was run and did not help"


def test_a_fix_that_fails_does_not_matter_when_the_check_passes(project: Project) -> None:
    project.configure('[[check]]\nrun = "test -f made"\nfix = "touch made; exit 3"\n')
    assert project.failed("--fix") == {}


def test_a_fix_of_a_file_that_is_not_trusted_is_not_run(project: Project) -> None:
    project.configure('[[check]]\ncommand = "./no"\nfix = "touch was-run"\n', trusted=False)
    says = project.failed("--fix")["command ./no"]
    assert "its fix was not run: " in says
    assert "`midwatch trust`" in says
    assert not (project.root / "was-run").exists()


def test_what_is_built_in_is_mended_by_a_fix_for_that_environment(project: Project) -> None:
    project.make()
    project.move("renamed")
    assert ".venv place" in project.failed("--fix"), "advice only: nothing of ours is run"
    fix = f"{sys.executable} -m venv --clear --without-pip .venv"
    project.configure(f'[[check]]\nvenv = ".venv"\nfix = "{fix}"\n')
    assert project.failed() != {}
    assert project.failed("--fix") == {}


def test_a_service_that_a_fix_starts_goes_on(project: Project) -> None:
    project.configure('[[check]]\nrun = "test -f pid"\nfix = "sleep 600 & echo $! > pid"\n')
    process = project.box.start("preflight", "--fix", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert process.wait(timeout=60) == 0
    pid = int((project.root / "pid").read_text())
    assert alive(pid)
    kill(pid, signal.SIGKILL)


def test_ctrl_c_ends_a_fix_with_all_that_it_runs(project: Project, box: Box) -> None:
    fix = "(trap '' INT TERM; sleep 600) & echo $! > child.new; mv child.new child; wait"
    project.configure(f'[[check]]\nrun = "false"\nname = "no"\nfix = "{fix}"\n')
    process = box.start("preflight", "--fix")
    until((project.root / "child").exists, project.root)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    until_gone(int((project.root / "child").read_text()))
