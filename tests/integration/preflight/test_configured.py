"""The checks of midwatch.toml that look at this machine: what passes, what fails, and in which words."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.conftest import alive, kill, until_gone
from tests.integration.preflight.projects import Project

# Modules and packages -----------------------------------------------------------------------------------------


def test_a_module_counts_as_the_environments_own_python_finds_it(project: Project) -> None:
    project.make()
    project.install("app")
    project.configure('[[check]]\nmodule = "app"\n')
    found = project.found()["module app"]
    assert found["ok"]
    assert found["says"] == f"from {project.packages}/app/__init__.py"
    assert found["source"] == f"{project.root}/midwatch.toml:1"


@pytest.mark.parametrize("way", ["current directory", "PYTHONPATH"])
def test_a_module_that_is_found_by_accident_is_not_installed(project: Project, way: str, tmp_path: Path) -> None:
    """What `python -c 'import app'` in the right directory hides, and every console script shows."""
    project.make()
    place = project.root if way == "current directory" else tmp_path / "elsewhere"
    (place / "app").mkdir(parents=True)
    (place / "app" / "__init__.py").touch()
    (project.root / "requirements.txt").touch()
    project.configure('[[check]]\nmodule = "app"\n')
    found = project.found(PYTHONPATH=str(tmp_path / "elsewhere"))["module app"]
    assert not found["ok"]
    assert found["says"].startswith("ModuleNotFoundError: No module named 'app' (Python 3")
    assert found["advice"] == "`.venv/bin/python -m pip install -r requirements.txt`"


def test_a_module_that_lacks_another_one_says_which(project: Project) -> None:
    project.make()
    project.install("app", code="print('noise')\nimport not_there\n")
    project.configure('[[check]]\nmodule = "app"\n')
    assert "No module named 'not_there'" in project.failed()["module app"]


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import os\nprint('last words', flush=True)\nos._exit(3)\n", "exit code 3 without an answer: last words"),
        ("import os\nos.kill(os.getpid(), 11)\n", "killed by SIGSEGV without an answer"),
        ("raise SystemExit(0)\n", "SystemExit: 0"),
        ("raise OSError('broken\\nin two lines')\n", "OSError: broken (Python"),
    ],
)
def test_a_module_that_breaks_its_python_has_not_passed(project: Project, code: str, says: str) -> None:
    project.make()
    project.install("app", code=code)
    project.configure('[[check]]\nmodule = "app"\n')
    assert says in project.failed()["module app"]


def test_a_module_that_takes_for_ever_is_given_up_and_ended(project: Project) -> None:
    project.make()
    code = f"import os, time\nopen({str(project.root / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    project.install("app", code=code)
    project.configure('[[check]]\nmodule = "app"\ntimeout = 5\n')
    assert project.failed()["module app"] == "its Python gave no answer within 5s"
    until_gone(int((project.root / "pid").read_text()))


def test_a_leftover_directory_is_told_from_a_module(project: Project) -> None:
    project.make()
    (project.packages / "app" / "__pycache__").mkdir(parents=True)
    project.configure('[[check]]\nmodule = "app"\n')
    assert "is it a leftover?" in project.found()["module app"]["says"]


def test_a_module_can_be_asked_for_in_another_environment(project: Project) -> None:
    project.make("tools/env")
    project.configure('[[check]]\nmodule = "json"\nvenv = "tools/env"\n\n[[check]]\nmodule = "os"\n')
    found = project.found()
    assert found["module json"]["ok"]
    assert found["module os"]["says"] == "there is no .venv in the project, nor does the check name another with `venv`"


def test_a_module_cannot_be_asked_for_where_python_is_gone(project: Project) -> None:
    project.make()
    (project.venv / "bin" / "python").unlink()
    (project.venv / "bin" / "python").symlink_to("/opt/gone/python")
    project.configure('[[check]]\nmodule = "json"\n[[check]]\npackage = "app"\n')
    for name in ("module json", "package app"):
        assert project.failed()[name] == "bin/python leads to /opt/gone/python, which is not there"


def test_a_package_with_metadata_and_module_passes(project: Project) -> None:
    project.make()
    project.install("my_app")
    project.configure('[[check]]\npackage = "my-app"\n')
    assert project.found()["package my-app"]["says"] == f"1.0 from {project.packages}/my_app/__init__.py"


def test_a_package_whose_module_has_another_name(project: Project) -> None:
    project.make()
    about = project.install("yaml")
    about.rename(about.with_name("PyYAML-6.0.dist-info"))
    project.configure('[[check]]\npackage = "pyyaml"\n')
    assert project.found()["package pyyaml"]["says"].endswith("/yaml/__init__.py")
    shutil.rmtree(project.packages / "yaml")
    assert project.failed()["package pyyaml"].startswith(
        "recorded as 1.0, but ModuleNotFoundError: No module named 'yaml'"
    )


def test_a_package_that_is_not_there_at_all(project: Project) -> None:
    project.make()
    project.configure('[[check]]\npackage = "app"\n')
    assert project.failed()["package app"] == "not installed there: neither metadata nor module"


def test_a_package_whose_metadata_is_empty_is_not_known(project: Project) -> None:
    project.make()
    (project.install("app") / "METADATA").unlink()
    project.configure('[[check]]\npackage = "app"\n')
    assert project.failed()["package app"].startswith("no metadata")


def test_a_package_without_a_module_passes_and_says_so(project: Project) -> None:
    project.make()
    project.record("types_app", ["app-stubs/__init__.pyi"])
    project.configure('[[check]]\npackage = "types-app"\n')
    assert project.found()["package types-app"]["says"] == "1.0; it has no module of its own"


# Environments -------------------------------------------------------------------------------------------------


def test_an_environment_that_is_named_is_looked_at_once_and_started(project: Project) -> None:
    project.make()
    project.install("app", script="app")
    project.configure('[[check]]\nvenv = ".venv"\n')
    found = project.found()
    assert found["venv .venv"]["ok"]
    assert not any(name.startswith(".venv ") for name in found)
    project.move("renamed")
    project.configure('[[check]]\nvenv = ".venv"\nname = "environment"\n')
    says = project.failed()["environment"]
    assert "it was moved or copied" in says
    assert "app: bad interpreter" in says


def test_an_environment_whose_python_does_not_start(project: Project) -> None:
    project.make()
    (project.venv / "bin" / "python").unlink()
    project.script("python", "#!/bin/sh\necho cannot find its library\nexit 127\n")
    project.configure('[[check]]\nvenv = ".venv"\n')
    assert (
        "its Python ended with exit code 127 without an answer: cannot find its library"
        in project.failed()["venv .venv"]
    )


def test_an_environment_whose_python_says_another_version(project: Project) -> None:
    """A copied interpreter (`venv --copies`) tells its version only when it is started."""
    project.make()
    python = project.venv / "bin" / "python"
    real = os.path.realpath(python)
    python.unlink()
    project.script("python", f'#!/bin/sh\nexec {real} "$@"\n')
    config = project.venv / "pyvenv.cfg"
    config.write_text("home = /usr/bin\nversion = 3.8.1\n")
    (project.venv / "lib" / "python3.8" / "site-packages").mkdir(parents=True)
    project.configure('[[check]]\nvenv = ".venv"\n')
    assert "made for Python 3.8, but its Python says that it is 3." in project.failed()["venv .venv"]


def test_an_environment_that_is_not_there(project: Project) -> None:
    project.configure('[[check]]\nvenv = "tools/env"\n')
    assert project.failed()["venv tools/env"] == f"there is no directory {project.root}/tools/env"


# Commands, disks, variables, tmux -----------------------------------------------------------------------------


def test_commands_are_found_in_path_or_by_their_own(project: Project) -> None:
    (project.root / "tool").write_text("#!/bin/sh\n")
    (project.root / "tool").chmod(0o755)
    project.configure(
        '[[check]]\ncommand = "sh"\n[[check]]\ncommand = "./tool"\n[[check]]\ncommand = "no-such-thing"\n'
    )
    found = project.found()
    assert found["command sh"]["ok"]
    assert found["command ./tool"]["ok"]
    assert found["command no-such-thing"]["says"] == "it is not in PATH"


@pytest.mark.parametrize(
    ("text", "mode", "says"),
    [
        ("#!/bin/sh\n", 0o644, "tool is there, but we may not run it"),
        (
            "#!/old/.venv/bin/python\n",
            0o755,
            "it starts with /old/.venv/bin/python, which is not there (bad interpreter)",
        ),
        ("#!/usr/bin/env -S no-such-python -u\n", 0o755, "it is run by no-such-python, which is not in PATH"),
    ],
)
def test_a_command_that_cannot_be_run(project: Project, text: str, mode: int, says: str) -> None:
    (project.root / "bin").mkdir()
    (project.root / "bin" / "tool").write_text(text)
    (project.root / "bin" / "tool").chmod(mode)
    project.configure('[[check]]\ncommand = "tool"\n')
    assert project.failed(PATH=f"{project.root}/bin:/usr/bin:/bin")["command tool"].endswith(says)


def test_a_command_that_is_a_link_to_nowhere(project: Project) -> None:
    (project.root / "tool").symlink_to("/opt/gone/tool")
    project.configure('[[check]]\ncommand = "./tool"\n')
    assert project.failed()["command ./tool"].endswith("it leads to /opt/gone/tool, which is not there")


def test_room_on_disks(project: Project) -> None:
    project.configure('[[check]]\ndisk = "1kB"\n[[check]]\ndisk = "9000TB at /"\n[[check]]\ndisk = "1MB at gone"\n')
    found = project.found()
    assert found["disk 1kB"]["ok"]
    assert found["disk 9000TB at /"]["says"].endswith("free at /; 9000 TB are needed")
    assert (
        found["disk 1MB at gone"]["says"] == f"could not be looked at: {project.root}/gone: No such file or directory"
    )


def test_a_full_disk_is_found_without_any_settings(project: Project) -> None:
    """/proc has no room at all, as the disk of a night's logs may not have."""
    says = project.failed("--dir", "/proc/nothing")["disk of the state directory"]
    assert says.endswith("free at /proc; 100 MB are needed") or "read-only" in says


def test_variables_are_compared_and_never_shown(project: Project) -> None:
    project.configure('[[check]]\nenv = "TOKEN"\n[[check]]\nenv = "STAGE=hunter2"\n')
    assert project.failed() == {"env TOKEN": "TOKEN is not set", "env STAGE": "STAGE is not set"}
    assert project.failed(TOKEN="", STAGE="hunter2") == {"env TOKEN": "TOKEN is empty"}
    for arguments in ([], ["--json"]):
        done = project.run(*arguments, TOKEN="sesame", STAGE="swordfish")
        assert done.code == 1
        assert "STAGE is set to another value" in done.out
        assert not any(secret in done.out + done.err for secret in ("sesame", "swordfish", "hunter2"))


@pytest.mark.parametrize(
    ("version", "wanted", "ok"),
    [
        ("3.3a", "3.3", True),
        ("3.3", "3.3a", False),
        ("2.9", "3.0", False),
        ("next-3.6", "3.5", True),
        ("master", "3", False),
    ],
)
def test_tmux_must_be_of_a_version(project: Project, version: str, wanted: str, *, ok: bool) -> None:
    (project.root / "bin").mkdir()
    (project.root / "bin" / "tmux").write_text(f"#!/bin/sh\necho tmux {version}\n")
    (project.root / "bin" / "tmux").chmod(0o755)
    project.configure(f'[[check]]\ntmux = "{wanted}"\n')
    found = project.found(PATH=f"{project.root}/bin:/usr/bin:/bin")
    assert found[f"tmux {wanted}"]["ok"] is ok, found


def test_a_tmux_too_old_to_be_asked_fails_without_any_settings(project: Project) -> None:
    (project.root / "tmux").write_text("#!/bin/sh\necho tmux 2.8\n")
    (project.root / "tmux").chmod(0o755)
    assert project.failed(PATH=f"{project.root}:/usr/bin:/bin") == {"tmux": "tmux 2.8; 3.0 or later is needed"}


def test_no_tmux_fails_only_where_one_is_asked_for(project: Project) -> None:
    project.configure('[[check]]\ntmux = "3.0"\n')
    assert project.failed(PATH="/nowhere") == {"tmux 3.0": "there is no tmux in PATH"}


# Commands of the project's own --------------------------------------------------------------------------------


def test_a_command_runs_in_the_projects_root_and_its_exit_code_tells(project: Project) -> None:
    project.configure(
        '[[check]]\nrun = "test -f midwatch.toml"\n[[check]]\nrun = "echo first; echo last >&2; exit 3"\nname = "no"\n'
    )
    (project.root / "below").mkdir()
    project.box.cwd = project.root / "below"
    found = project.found()
    assert found["run test -f midwatch.toml"]["says"] == "exit code 0"
    assert found["no"]["says"] == "exit code 3: last"


def test_what_a_command_prints_cannot_reach_the_terminal(project: Project) -> None:
    project.configure(
        "[[check]]\nrun = '''printf 'a\\033[31mred\\033]0;title\\007\\r\\n\\n'; kill -9 $$'''\nname = 'no'\n"
    )
    done = project.run()
    assert "killed by SIGKILL: ared" in done.out
    assert "\033" not in done.out


def test_a_command_has_no_terminal_and_nothing_to_read(project: Project) -> None:
    project.configure('[[check]]\nrun = "read line && exit 1; ! (: < /dev/tty)"\nname = "no"\n')
    assert project.failed() == {}


def test_a_command_that_is_not_done_in_time_is_ended_with_its_whole_group(project: Project) -> None:
    text = "trap : TERM; (trap '' TERM; sleep 600) & echo $! > child; echo $$ > parent; echo half"
    text += "; while :; do sleep 600; done"
    project.configure(f'[[check]]\nrun = "{text}"\nname = "slow"\ntimeout = 5\n')
    assert project.failed()["slow"] == "not done within 5s; it was ended: half"
    for name in ("child", "parent"):
        until_gone(int((project.root / name).read_text()))


def test_what_a_command_leaves_running_is_not_waited_for(project: Project) -> None:
    project.configure('[[check]]\nrun = "sleep 600 & echo $! > pid"\nname = "leaves"\ntimeout = "10m"\n')
    assert project.failed() == {}
    pid = int((project.root / "pid").read_text())
    assert alive(pid)
    kill(pid, signal.SIGKILL)


def test_a_command_that_prints_without_end_is_ended_too(project: Project) -> None:
    project.configure('[[check]]\nrun = "yes"\nname = "loud"\ntimeout = 3\n')
    assert project.failed()["loud"] == "not done within 3s; it was ended: y"


# Trust --------------------------------------------------------------------------------------------------------

RUNS = """
[[check]]
run = "touch was-run"
[[check]]
module = "app"
[[check]]
package = "app"
[[check]]
venv = ".venv"
[[check]]
command = "sh"
"""


def test_nothing_is_run_from_a_file_that_is_not_trusted(project: Project) -> None:
    project.make()
    (project.venv / "bin" / "python").unlink()
    project.script("python", f"#!/bin/sh\ntouch {project.root}/was-run\n")
    project.configure(RUNS, trusted=False)
    failed = project.failed()
    assert set(failed) == {"run touch was-run", "module app", "package app", "venv .venv"}
    assert all(f"{project.root}/midwatch.toml is not trusted" in says for says in failed.values())
    assert all("`midwatch trust`" in says for says in failed.values())
    assert not (project.root / "was-run").exists()


def test_a_file_that_was_changed_must_be_trusted_again(project: Project) -> None:
    project.configure('[[check]]\nrun = "true"\n')
    assert project.failed() == {}
    project.configure('[[check]]\nrun = "touch was-run"\n', trusted=False)
    assert "was changed since you trusted it" in project.failed()["run touch was-run"]
    assert not (project.root / "was-run").exists()


def test_the_users_own_file_needs_no_trust(project: Project, tmp_path: Path) -> None:
    (tmp_path / "config" / "midwatch").mkdir(parents=True)
    (tmp_path / "config" / "midwatch" / "config.toml").write_text('[[check]]\nrun = "true"\n')
    assert project.found()["run true"]["ok"]
