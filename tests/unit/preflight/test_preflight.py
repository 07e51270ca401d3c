"""What is said of each thing that was looked at before work."""

from __future__ import annotations

import pytest

from midwatch.config.model import PreflightCheck
from midwatch.core.foreign_text import ForeignText
from midwatch.core.program_result import ProgramResult
from midwatch.preflight.model import AddressReply, DiskSpace, Finding, InterpreterReply
from midwatch.preflight.rules import findings as judge
from midwatch.preflight.rules import virtualenv as judge_environment
from midwatch.preflight.virtualenv_model import (
    GONE,
    OTHER,
    OWN,
    EnvironmentOrigin,
    EnvironmentRecipe,
    EnvironmentScript,
    InstalledPackage,
    Interpreter,
    VirtualEnvironment,
)


def check(kind: str = "run", target: str = "x", **more: object) -> PreflightCheck:
    return PreflightCheck(kind, target, f"{kind} {target}")._replace(**more)  # type: ignore[arg-type]


def passed(name: str = "a") -> Finding:
    return Finding(name, "run", ok=True, says="fine")


def failed(name: str = "a", fix: str = "") -> Finding:
    return Finding(name, "run", ok=False, says="broken", fix=fix)


def test_a_finding_carries_what_its_check_gives_and_advice_only_when_it_failed() -> None:
    about = check(fix="mend", source="f:1")
    assert judge.build_finding(about, "s", ok=True, advice="do") == Finding(
        "run x", "run", True, "s", "mend", "", "f:1"
    )
    assert judge.build_finding(about, "s", ok=False, advice="do").advice == "do"


def test_text_of_others_is_one_plain_line() -> None:
    assert judge.clean_line("a\x1b[1;31mred\x1b[0m\r\n\tb\x1b]0;title\x07c\udc80") == "ared bc"
    assert judge.clean_line("x" * 1000) == "x" * 399 + "…"


@pytest.mark.parametrize("status", [200, 204, 301, 399])
def test_a_status_below_400_passes(status: int) -> None:
    assert judge.address_finding(check("http"), AddressReply(status, "s")).ok


@pytest.mark.parametrize("status", [0, 400, 404, 500])
def test_a_status_that_says_no_and_none_at_all_fail(status: int) -> None:
    assert not judge.address_finding(check("http"), AddressReply(status, "s")).ok


def test_room_is_enough_or_it_is_said_what_is_missing() -> None:
    def says(free: int = 100, *, names_left: bool = True, read_only: bool = False) -> tuple[bool, str]:
        found = judge.disk_finding(
            check("disk"), 100, "/p", DiskSpace(free, names_left=names_left, read_only=read_only)
        )
        return found.ok, found.says

    assert says() == (True, "100 B free at /p")
    assert says(99) == (False, "99 B free at /p; 100 B are needed")
    assert says(names_left=False) == (False, "no more files can be made at /p: its inodes are used up")
    assert says(read_only=True) == (False, "/p is on a file system that is read-only")


def test_neither_value_of_a_variable_is_said() -> None:
    found = judge.variable_finding(check("env", "KEY=wanted"), "KEY", "wanted", "seen")
    assert not found.ok
    assert "wanted" not in repr(found)
    assert "seen" not in repr(found)
    assert judge.variable_finding(check("env", "KEY=wanted"), "KEY", "wanted", "wanted").ok
    assert judge.variable_finding(check("env", "KEY="), "KEY", "", "").ok
    assert not judge.variable_finding(check("env", "KEY"), "KEY", None, "").ok


@pytest.mark.parametrize(
    ("ended", "ok", "says"),
    [
        (ProgramResult(0, late=False, text=ForeignText("warning\n")), True, "exit code 0"),
        (ProgramResult(2, late=False, text=ForeignText("first\nlast\n\x1b[0m\n\n")), False, "exit code 2: last"),
        (ProgramResult(-9, late=False, text=ForeignText("")), False, "killed by SIGKILL"),
        (ProgramResult(-15, late=True, text=ForeignText("half\n")), False, "not done within 10s; it was ended: half"),
        (ProgramResult(0, late=True, text=ForeignText("")), False, "not done within 10s; it was ended"),
    ],
)
def test_a_command_is_judged_by_its_end(ended: ProgramResult, *, ok: bool, says: str) -> None:
    found = judge.command_finding(check(), ended)
    assert (found.ok, found.says) == (ok, says)


def test_a_version_of_tmux_that_cannot_be_read_has_not_passed() -> None:
    assert judge.tmux_finding(check("tmux"), "3.0", "").says == "tmux does not say a version that can be compared"
    assert (
        judge.tmux_finding(check("tmux"), "new", "tmux 3.3").says == "'new' is not a version of tmux; say 3.3 or 3.3a"
    )
    assert not judge.tmux_finding(check("tmux"), "new", "tmux 3.3").ok


def test_a_package_needs_both_metadata_and_module() -> None:
    def ok(told: InterpreterReply) -> bool:
        return judge.package_finding(check("package"), told, "").ok

    assert ok(InterpreterReply("", version="1", place="/p"))
    assert not ok(InterpreterReply("", place="/p", recorded=False))
    assert not ok(InterpreterReply("ImportError: x", version="1"))
    assert not ok(InterpreterReply("gave no answer within 10s"))


def test_a_summary_counts_and_names_and_is_empty_when_all_is_well() -> None:
    assert judge.format_summary([passed(), passed()]) == ""
    assert (
        judge.format_summary([failed("tcp x")]) == "1 of 1 check failed: tcp x: broken; `midwatch preflight` tells more"
    )
    many = judge.format_summary([passed(), *(failed(name) for name in "abcde")])
    assert many == (
        "5 of 6 checks failed: a: broken; b: broken; c: broken; and 2 more; `midwatch preflight` tells more"
    )


def test_those_that_could_not_run_are_named_however_many() -> None:
    unrun = [failed(name)._replace(ran=False) for name in "abcde"]
    assert (
        judge.format_counts([passed(), failed("x"), *unrun])
        == "1 of 7 checks failed, 5 could not be run: a, b, c, d, e"
    )
    assert judge.format_counts([passed(), *unrun]) == "5 of 6 checks could not be run: a, b, c, d, e"
    assert judge.format_counts([passed(), passed()]) == "all 2 checks passed"
    assert judge.format_summary([unrun[0], failed("x")]) == (
        "1 of 2 checks failed, 1 could not be run: a; x: broken; a: broken; `midwatch preflight` tells more"
    )
    assert not any(each.ran for each in (judge.timeout_finding(check()), judge.untrusted_finding(check(), "no trust")))


def test_what_became_of_a_fix_is_said_only_where_something_is_left() -> None:
    found = [passed(), failed("b", "mend"), failed("c", "other")]
    assert [each.says for each in judge.findings_after_fixes(found, {"mend": "no help"})] == [
        "fine",
        "broken; no help",
        "broken",
    ]


def test_a_directory_with_blanks_is_quoted_in_advice() -> None:
    assert (
        judge.install_command("my env", EnvironmentRecipe(("pyproject.toml",)))
        == "`'my env'/bin/python -m pip install -e .`"
    )
    assert "UV_PROJECT_ENVIRONMENT='my env' uv sync" in judge.rebuild_command("my env", EnvironmentRecipe(("uv.lock",)))


PYPROJECT = """
[project]
name = "App"
dependencies = ["click"]
[project.optional-dependencies]
dev = ["pytest>=8", "tomli; python_version < '3.11'", "app[lint]"]
lint = ["Ruff"]
gui = ["pyqt6"]
fast = ["click"]
[dependency-groups]
dev = ["mypy"]
docs = ["mkdocs_material", {include-group = "dev"}]
"""
LOCKED, PLAIN = ("pyproject.toml", "uv.lock"), ("pyproject.toml",)
OFFERED = "`--extra dev`, `--extra lint`, `--extra gui`, `--extra fast`, `--group docs`"
ALL = ("click", "pytest", "ruff", "mypy", "mkdocs-material")


@pytest.mark.parametrize(
    ("names", "there", "expected"),
    [
        (LOCKED, ALL, "`uv sync --extra dev --extra lint --group docs`"),
        (LOCKED, ("click", "mypy"), "`uv sync`"),
        (LOCKED, ("click", "pytest"), "`uv sync`"),
        (LOCKED, ("click", "Ruff"), "`uv sync --extra lint`"),
        (LOCKED, (), f"`uv sync`; the project also has {OFFERED}"),
        (PLAIN, ALL, "`.venv/bin/python -m pip install -e '.[dev,lint]' --group docs`"),
    ],
)  # fmt: skip
def test_advice_keeps_the_extras_and_groups_that_were_installed(
    names: tuple[str, ...], there: tuple[str, ...], expected: str
) -> None:
    made = judge_environment.build_recipe(
        EnvironmentOrigin(names, PYPROJECT, {}), [InstalledPackage(name, "1.0") for name in there]
    )
    assert judge.install_command(".venv", made) == expected
    assert expected.strip("`").partition("`")[0] in judge.rebuild_command(".venv", made)


def test_advice_keeps_the_files_of_requirements_that_were_installed() -> None:
    files = {"requirements-dev.txt": "-r requirements.txt\npytest==8\n", "requirements.txt": "click # it\n"}
    origin = EnvironmentOrigin(tuple(files), "", files)
    both = judge_environment.build_recipe(origin, [InstalledPackage("click", "1"), InstalledPackage("pytest", "8")])
    assert both.requirements == ("requirements-dev.txt", "requirements.txt")
    assert judge_environment.build_recipe(origin, [InstalledPackage("click", "1")]).requirements == (
        "requirements.txt",
    )
    assert judge_environment.build_recipe(origin, []).requirements == ("requirements.txt",)


@pytest.mark.parametrize("text", ["", "= x", "project = 3\n", '[project]\noptional-dependencies = ["x"]\n'])
def test_a_project_file_that_tells_nothing_changes_no_advice(text: str) -> None:
    assert judge_environment.build_recipe(
        EnvironmentOrigin(LOCKED, text, {}), [InstalledPackage("x", "1")]
    ) == EnvironmentRecipe(LOCKED)


# Environments -------------------------------------------------------------------------------------------------

WELL = VirtualEnvironment(
    "/p/.venv",
    config={"home": "/usr/bin", "version": "3.11.7"},
    interpreter=Interpreter("/p/.venv/bin/python", "/usr/bin/python3.11", "", "3.11"),
    libraries=("3.11",),
    scripts=(EnvironmentScript("app", "/p/.venv/bin/python", OWN),),
    packages=(InstalledPackage("app", "1.0"),),
)


def troubles(**changed: object) -> dict[str, tuple[str, ...]]:
    seen = judge_environment.list_aspects(WELL._replace(**changed))  # type: ignore[arg-type]
    return {aspect.name: aspect.troubles for aspect in seen if aspect.troubles}


def test_an_environment_in_order_has_no_trouble() -> None:
    assert troubles() == {}
    assert [aspect.name for aspect in judge_environment.list_aspects(WELL)] == [
        "python",
        "place",
        "scripts",
        "packages",
    ]


def test_packages_for_another_version_are_not_seen() -> None:
    newer = WELL.interpreter._replace(version="3.12")
    assert "made for Python 3.11, but bin/python is 3.12" in troubles(interpreter=newer)["python"][0]


def test_a_version_that_no_name_tells_is_taken_from_the_configuration() -> None:
    unnamed = WELL.interpreter._replace(version="")
    assert troubles(interpreter=unnamed) == {}
    assert troubles(interpreter=unnamed, libraries=("3.9", "3.10"))["python"] == (
        "it has no lib/python3.11/site-packages for its Python; there is lib/python3.9, lib/python3.10",
    )
    assert troubles(libraries=())["python"] == ("it has no lib/python3.11/site-packages for its Python",)


def test_what_could_not_be_read_is_trouble() -> None:
    assert troubles(unread=("x cannot be read: Permission denied",))["python"] == (
        "x cannot be read: Permission denied",
    )


def test_scripts_with_the_same_fault_are_said_together() -> None:
    scripts = (
        *(EnvironmentScript(name, "/old/bin/python", GONE) for name in "abcde"),
        EnvironmentScript("f", "/other/bin/python", OTHER, "x"),
        EnvironmentScript("g", "/p/.venv/bin/python", OWN, "lost.cli"),
    )
    assert troubles(scripts=scripts)["scripts"] == (
        "a, b, c and 2 more: bad interpreter, /old/bin/python is not there",
        "f: run by /other/bin/python, another environment that still exists, with its packages and not with these",
        "g: lost.cli, which it calls, is not installed here",
    )


def test_a_source_that_is_gone_is_said_once() -> None:
    gone = (("app.pth", "/old/app/src"), ("app", "/old/app"), ("app.pth", "/old/application"), ("app", "/old/app"))
    assert troubles(gone=gone)["packages"] == (
        "app is installed in place from /old/app, which is gone",
        "app.pth leads to /old/application, which is gone",
    )


def test_what_its_python_says_is_held_against_its_configuration() -> None:
    assert list(judge_environment.reply_problems(WELL, InterpreterReply("", python="3.11.9"))) == []
    assert list(judge_environment.reply_problems(WELL, InterpreterReply("", python="3.12.1"))) != []
    assert list(judge_environment.reply_problems(WELL, InterpreterReply("gave no answer"))) == [
        "its Python gave no answer"
    ]
