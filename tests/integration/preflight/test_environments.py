"""The environment of a project, looked at without running anything in it: the symptoms people meet, one by one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.preflight.projects import EXIT, VERSION, Project

OTHER_VERSION = "3.8" if VERSION != "3.8" else "3.9"


def test_an_environment_as_it_was_made_passes(project: Project) -> None:
    project.make()
    project.install("app", script="app")
    found = project.found()
    assert found[".venv python"]["says"] == f"Python {VERSION}"
    assert found[".venv scripts"]["says"] == "1 script"
    assert found[".venv packages"]["says"] == "1 package"
    assert all(each["ok"] for each in found.values()), found


def test_a_project_without_an_environment_has_nothing_to_fail(project: Project) -> None:
    assert set(project.found(PATH="/nowhere")) == {"disk of the project", "disk of the state directory"}


# Common uv and venv failures ----------------------------------------------------------------------------------


def test_module_not_found_in_a_shell_although_uv_run_finds_it(project: Project) -> None:
    """The project was renamed: activating leads to the old directory, whose Python is not there."""
    project.make()
    (project.root / "uv.lock").touch()
    project.move("renamed")
    place = project.found()[".venv place"]
    assert not place["ok"]
    assert f"made at {project.root.parent}/app/.venv" in place["says"]
    assert "`rm -rf .venv && uv sync`" in place["advice"]
    assert "`uv sync` alone" in place["advice"]


def test_advice_keeps_the_extras_and_groups_that_are_installed(project: Project) -> None:
    project.make()
    (project.root / "uv.lock").touch()
    (project.root / "pyproject.toml").write_text(
        '[project]\nname = "app"\n[project.optional-dependencies]\ndev = ["pytest"]\ngui = ["qt"]\n'
        '[dependency-groups]\ndocs = ["mkdocs"]\n'
    )
    for name in ("pytest", "mkdocs"):
        project.install(name, script=name)
    project.move("renamed")
    for row in (".venv place", ".venv scripts"):
        assert "`rm -rf .venv && uv sync --extra dev --group docs`" in project.found()[row]["advice"]


def test_bad_interpreter_after_a_rename(project: Project) -> None:
    project.make()
    for name in ("pytest", "ruff", "mypy", "app"):
        project.install(name.replace("-", "_"), script=name)
    project.move("renamed")
    old = f"{project.root.parent}/app/.venv/bin/python"
    assert not Path(old).exists()
    assert project.failed()[".venv scripts"] == f"app, mypy, pytest and 1 more: bad interpreter, {old} is not there"
    ran = subprocess.run(["/bin/sh", "-c", f"{project.venv}/bin/pytest"], capture_output=True, text=True, check=False)
    assert ran.returncode == 127, "the symptom itself"


def test_pip_show_says_not_found_while_uv_run_says_installed(project: Project) -> None:
    project.make()
    shutil.rmtree(project.install("app"))
    project.configure('[[check]]\npackage = "app"\n')
    says = project.failed()["package app"]
    assert says.startswith("no metadata, so pip does not know it, though its module can be imported from ")
    assert str(project.packages / "app") in says


def test_after_a_python_upgrade_the_packages_are_not_seen(project: Project) -> None:
    """As when the system's python3 becomes a later one: the same link leads to another version."""
    project.make()
    config = project.venv / "pyvenv.cfg"
    config.write_text(config.read_text().replace(f"version = {VERSION}", f"version = {OTHER_VERSION}"))
    (project.venv / "lib" / f"python{VERSION}").rename(project.venv / "lib" / f"python{OTHER_VERSION}")
    says = project.failed()[".venv python"]
    assert (
        says
        == f"it was made for Python {OTHER_VERSION}, but bin/python is {VERSION} now, which does not see its packages"
    )


PYPROJECT = """
[project]
name = "thing"
version = "0.1.0"
requires-python = ">=3.11"
[project.scripts]
thing = "thing:main"
[build-system]
requires = ["uv_build>=0.13,<0.14"]
build-backend = "uv_build"
"""
"""A project that real uv can install without a network: its build backend is in the program itself."""


def test_an_environment_of_real_uv_that_was_moved_and_what_mends_it(project: Project) -> None:
    """`uv sync` alone puts the project right and leaves the rest of the environment pointing to the old place."""
    (project.root / "pyproject.toml").write_text(PYPROJECT)
    (project.root / "src" / "thing").mkdir(parents=True)
    (project.root / "src" / "thing" / "__init__.py").write_text("def main(): pass\n")
    uv_sync(project)
    assert project.failed() == {}
    project.move("renamed")
    failed = project.failed()
    assert set(failed) == {".venv place", ".venv scripts", ".venv packages"}
    assert "bad interpreter" in failed[".venv scripts"]
    assert "rm -rf .venv && uv sync" in project.found()[".venv place"]["advice"]
    uv_sync(project)
    assert set(project.failed()) == {".venv place"}
    shutil.rmtree(project.venv)
    uv_sync(project)
    assert project.failed() == {}


def uv_sync(project: Project) -> None:
    uv = str(Path(sys.executable).parent / "uv")
    command = [uv, "sync", "--offline", "--no-python-downloads", "--python", sys.executable]
    environment = {"HOME": str(project.root.parent), "PATH": os.environ["PATH"]}
    subprocess.run(command, cwd=project.root, env=environment, check=True, timeout=60, capture_output=True)


# Its Python ---------------------------------------------------------------------------------------------------


def test_the_python_it_was_made_from_is_gone(project: Project) -> None:
    project.make()
    (project.venv / "bin" / "python").unlink()
    (project.venv / "bin" / "python").symlink_to(f"/opt/gone/python{VERSION}")
    assert project.failed()[".venv python"] == f"bin/python leads to /opt/gone/python{VERSION}, which is not there"


def test_its_home_is_gone(project: Project) -> None:
    project.make()
    config = project.venv / "pyvenv.cfg"
    lines = ["home = /opt/gone/bin" if line.startswith("home") else line for line in config.read_text().splitlines()]
    config.write_text("\n".join(lines))
    assert "there is no /opt/gone/bin" in project.failed()[".venv python"]


def test_links_that_go_round_in_circles_are_said_and_not_followed_for_ever(project: Project) -> None:
    project.make()
    python = project.venv / "bin" / "python"
    python.unlink()
    python.symlink_to("python")
    assert "cannot be looked at" in project.failed()[".venv python"]


def test_an_interpreter_that_may_not_be_run(project: Project) -> None:
    project.make()
    python = project.venv / "bin" / "python"
    python.unlink()
    python.write_text("")
    assert "not a program that we may start" in project.failed()[".venv python"]


def test_an_empty_environment_has_no_python(project: Project) -> None:
    project.venv.mkdir()
    says = project.failed()[".venv python"]
    assert "there is no bin/python" in says
    assert "pyvenv.cfg is missing" in says


def test_without_its_configuration_python_does_not_know_where_it_is(project: Project) -> None:
    project.make()
    (project.venv / "pyvenv.cfg").unlink()
    assert project.failed()[".venv python"].startswith("pyvenv.cfg is missing")


def test_an_environment_of_conda_needs_no_configuration(project: Project) -> None:
    project.make()
    (project.venv / "pyvenv.cfg").unlink()
    (project.venv / "conda-meta").mkdir()
    assert project.failed() == {}


def test_an_environment_that_is_a_link_to_nowhere(project: Project) -> None:
    project.venv.symlink_to(project.root / "shared")
    assert project.failed()[".venv python"].endswith(f"leads to {project.root}/shared, which is not there")


def test_nothing_of_the_project_is_run_by_what_is_built_in(project: Project) -> None:
    project.make()
    python = project.venv / "bin" / "python"
    python.unlink()
    project.script("python", f"#!/bin/sh\ntouch {project.root}/was-run\n")
    project.script("app", f"#!{python}\n" + EXIT.format(module="app"))
    project.found()
    assert not (project.root / "was-run").exists()


# Its place ----------------------------------------------------------------------------------------------------


def test_another_way_to_the_same_environment_is_not_a_move(project: Project, tmp_path: Path) -> None:
    project.make()
    project.install("app", script="app")
    (tmp_path / "link").symlink_to(project.root)
    project.box.cwd = tmp_path / "link"
    assert project.failed() == {}


def test_an_environment_reached_by_a_link_when_it_was_made_is_not_moved(project: Project, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project.root)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", f"{tmp_path}/link/.venv"], check=True, timeout=60)
    project.script("app", f"#!{tmp_path}/link/.venv/bin/python\nprint()\n")
    assert project.failed() == {}


def test_a_copy_works_by_accident_from_the_old_place(project: Project) -> None:
    project.make()
    project.install("app", script="app")
    copy = project.root.parent / "copy"
    shutil.copytree(project.root, copy, symlinks=True)
    old, project.root, project.box.cwd = project.root, copy, copy
    failed = project.failed()
    assert f"made at {old}/.venv" in failed[".venv place"]
    assert failed[".venv scripts"].startswith(
        f"app: run by {old}/.venv/bin/python, another environment that still exists"
    )


def test_an_activated_environment_inside_the_project_is_looked_at_too(project: Project) -> None:
    project.make("tools/env")
    found = project.found(VIRTUAL_ENV=str(project.root / "tools" / "env"))
    assert found["tools/env place"]["ok"]
    assert not any(name.startswith("tools") for name in project.found(VIRTUAL_ENV="/opt/env"))


def test_a_package_that_is_called_venv_is_no_environment(project: Project) -> None:
    (project.root / "venv").mkdir()
    (project.root / "venv" / "__init__.py").touch()
    assert project.failed() == {}
    (project.root / "venv" / "pyvenv.cfg").touch()
    assert "there is no bin/python" in project.failed()["venv python"]


# Its scripts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quote", ['"', ""], ids=["with blanks", "too long"])
def test_scripts_that_a_shell_reads_first_are_understood(project: Project, quote: str) -> None:
    project.make()
    form = "#!/bin/sh\n'''exec' {q}{python}{q} \"$0\" \"$@\"\n' '''\n" + EXIT.format(module="sys")
    project.script("app", form.format(q=quote, python=f"{project.venv}/bin/python"))
    assert project.failed() == {}
    old = "/old place/.venv/bin/python" if quote else "/old/place/.venv/bin/python"
    project.script("app", form.format(q=quote, python=old))
    assert project.failed()[".venv scripts"] == f"app: bad interpreter, {old} is not there"


def test_scripts_that_can_be_moved_pass_after_a_move(project: Project) -> None:
    """As `uv venv --relocatable` has them, and its `activate`."""
    project.make()
    begin = """#!/bin/sh\n'''exec' "$(dirname -- "$(realpath -- "$0")")"/'python' "$0" "$@"\n' '''\n"""
    project.install("app")
    script = project.script("app", begin + EXIT.format(module="app"))
    activate = project.venv / "bin" / "activate"
    own = """VIRTUAL_ENV=''"$(dirname -- "$(dirname -- "$(realpath -- "$SCRIPT_PATH")")")"''"""
    activate.write_text(activate.read_text().replace(f'VIRTUAL_ENV="{project.venv}"', own))
    project.move("renamed")
    assert project.failed() == {}
    assert subprocess.run([project.venv / "bin" / script.name], check=False, timeout=60).returncode == 0


def test_programs_that_are_no_scripts_are_left_alone(project: Project) -> None:
    project.make()
    shutil.copy("/bin/true", project.venv / "bin" / "ruff")
    (project.venv / "bin" / "notes").write_text("#\n")
    assert project.found()[".venv scripts"]["says"] == "0 scripts"


def test_a_script_for_another_interpreter_passes_if_that_is_there(project: Project) -> None:
    project.make()
    project.script("tool", "#!/bin/sh\nexit 0\n")
    assert project.failed() == {}
    project.script("tool", "#!/opt/gone/bin/perl -w\n")
    assert project.failed()[".venv scripts"] == "tool: bad interpreter, /opt/gone/bin/perl is not there"


def test_a_script_whose_package_is_gone(project: Project) -> None:
    project.make()
    about = project.install("app", script="app")
    shutil.rmtree(about)
    shutil.rmtree(project.packages / "app")
    assert project.failed()[".venv scripts"] == "app: app, which it calls, is not installed here"


def test_a_script_for_the_systems_python_calls_the_systems_packages(project: Project) -> None:
    project.make()
    project.script("app", f"#!{os.path.realpath(sys.executable)}\n" + EXIT.format(module="somewhere.cli"))
    assert project.failed() == {}


def test_a_script_that_calls_a_package_of_the_system_passes_where_that_is_seen(project: Project) -> None:
    project.make()
    project.script("app", f"#!{project.venv}/bin/python\n" + EXIT.format(module="somewhere.cli"))
    assert ".venv scripts" in project.failed()
    config = project.venv / "pyvenv.cfg"
    config.write_text(config.read_text().replace("packages = false", "packages = true"))
    assert project.failed() == {}


# Its packages -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["METADATA", "RECORD"])
def test_a_package_whose_install_was_cut_short(project: Project, file: str) -> None:
    project.make()
    (project.install("app") / file).unlink()
    assert project.failed()[".venv packages"] == f"app: no {file}, so an install was cut short or damaged"


def test_two_versions_of_one_package(project: Project) -> None:
    project.make()
    project.install("app")
    project.record("App", [], version="2.0")
    assert project.failed()[".venv packages"] == "app is recorded 2 times: 2.0, 1.0"


def in_place(project: Project, source: Path) -> None:
    about = project.record("app", ["app.pth", "../../../bin/app"])
    (about / "direct_url.json").write_text(json.dumps({"url": source.as_uri(), "dir_info": {"editable": True}}))
    project.script("app", f"#!{project.venv}/bin/python\n" + EXIT.format(module="app.cli"))


def test_an_editable_install_whose_directory_was_renamed(project: Project, tmp_path: Path) -> None:
    """An environment elsewhere, a source that moved: it is still installed, and nothing of it is found."""
    project.make()
    source = tmp_path / "my source"
    (source / "src" / "app").mkdir(parents=True)
    in_place(project, source)
    (project.packages / "app.pth").write_text(f"{source}/src\n")
    assert project.failed() == {}
    source.rename(tmp_path / "renamed")
    failed = project.failed()
    assert failed[".venv packages"] == f"app is installed in place from {source}, which is gone"


def test_a_path_file_that_leads_nowhere(project: Project, tmp_path: Path) -> None:
    project.make()
    (project.packages / "more.pth").write_text(f"# comment\nimport site\n{tmp_path}/gone\n.\n./app.egg\n")
    (project.packages / "app.egg").touch()
    assert project.failed()[".venv packages"] == f"more.pth leads to {tmp_path}/gone, which is gone"


@pytest.mark.parametrize(
    "finder",
    [
        "MAPPING: dict[str, str] = {{'app': {place!r}}}\nNAMESPACES = {{}}\n",
        "MAPPING = {{'app': {place!r}}}\n",
        "from editables.redirector import RedirectingFinder as F\nF.map_module('app', {place!r})\n",
    ],
    ids=["setuptools", "older setuptools", "editables"],
)
def test_a_finder_that_leads_nowhere(project: Project, tmp_path: Path, finder: str) -> None:
    project.make()
    place = tmp_path / "source" / "app"
    place.mkdir(parents=True)
    (project.packages / "__editable___app_finder.py").write_text(finder.format(place=str(place)))
    project.script("app", f"#!{project.venv}/bin/python\n" + EXIT.format(module="app.cli"))
    assert project.failed() == {}
    place.rmdir()
    assert project.failed()[".venv packages"] == f"__editable___app_finder.py leads to {place}, which is gone"


def test_a_package_that_finds_its_code_in_its_own_way_is_believed(project: Project, tmp_path: Path) -> None:
    project.make()
    in_place(project, tmp_path)
    assert project.failed() == {}


def test_what_cannot_be_read_has_not_passed(project: Project) -> None:
    project.make()
    (project.venv / "bin" / "activate").unlink()
    (project.venv / "bin" / "activate").mkdir()
    assert project.failed()[".venv python"] == f"{project.venv}/bin/activate cannot be read: not a regular file"


VENV, PIP = "`python3 -m venv --clear .venv", ".venv/bin/python -m pip install"


# What to do about it ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "advice"),
    [
        (["uv.lock", "pyproject.toml"], "`rm -rf .venv && uv sync`"),
        (["requirements.txt", "requirements-dev.txt"], f"{VENV} && {PIP} -r requirements.txt`"),
        (["pyproject.toml"], f"{VENV} && {PIP} -e .`"),
        ([], f"{VENV}`, then install its packages"),
    ],
)  # fmt: skip
def test_the_advice_is_what_the_project_is_made_with(project: Project, files: list[str], advice: str) -> None:
    project.make()
    for name in files:
        (project.root / name).touch()
    project.move("renamed")
    assert advice in project.found()[".venv place"]["advice"]
