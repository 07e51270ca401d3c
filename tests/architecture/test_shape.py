"""The shape of the code: what only a person would notice otherwise."""

from __future__ import annotations

import ast
import collections
import subprocess
import sys
from pathlib import Path

import pytest

from midwatch.cli.command_table import VERBS
from midwatch.compat.story_automator.main import COMMANDS
from midwatch.sessions.rules import verdict as session_verdict
from midwatch.system import procfs

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "midwatch").rglob("*.py"))
ARGUED = {
    "shim.py": "one process, one story: start, witness, ask, end; splitting it would hide the order of its writes",
}
HEAVY = {
    "asyncio",
    "argparse",
    "dataclasses",
    "pathlib",
    "subprocess",
    "socket",
    "sqlite3",
    "logging",
    "inspect",
    "typing",
    "contextlib",
    "ctypes",
}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_tells_one_story(path: Path) -> None:
    limit = 500 if path.name in ARGUED else 300
    text = path.read_text()
    imports = [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert len(text.splitlines()) - sum((node.end_lineno or 0) - node.lineno for node in imports) <= limit


def test_packages_begin_with_what_comes_in_and_what_goes_out() -> None:
    packages = [path for path in SOURCES if path.name == "__init__.py"]
    assert packages
    for path in packages:
        feature = path.parent.parent == ROOT / "src" / "midwatch"
        assert len((ast.get_docstring(ast.parse(path.read_text())) or "").split()) > (20 if feature else 1), path


def test_a_class_name_is_used_once() -> None:
    names = [
        node.name
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    ]
    assert [name for name, times in collections.Counter(names).items() if times > 1] == []


def test_every_verb_has_a_module_and_every_verb_is_tested() -> None:
    for verb in VERBS:
        assert (ROOT / f"src/midwatch/cli/commands/{verb.lstrip('_')}.py").exists(), verb
        if not verb.startswith("_"):
            assert (ROOT / f"tests/integration/{verb}").is_dir(), verb


def test_every_command_of_story_automator_has_a_module() -> None:
    for module in COMMANDS.values():
        assert (ROOT / f"src/midwatch/compat/story_automator/{module}.py").exists(), module


def imported_by(arguments: list[str]) -> set[str]:
    program = (
        "import sys; sys.argv = ['midwatch', *sys.argv[1:]]; from midwatch.cli.main import main; main();"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines())


@pytest.mark.parametrize("arguments", [["ls"], ["wait", "x"], ["--help"], ["run", "--help"]], ids=" ".join)
def test_hot_verbs_import_nothing_heavy(arguments: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MIDWATCH_HOME", str(tmp_path))
    assert imported_by(arguments) & HEAVY == set()


@pytest.mark.parametrize("arguments", [["ls"], ["ls", "--json"], ["wait", "x"], ["wait", "x", "--json"]], ids=" ".join)
def test_hot_verbs_read_and_write_json_without_regular_expressions(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MIDWATCH_HOME", str(tmp_path))
    for _ in range(2):  # a first listing is kept for later ones
        imported_by(["run", "--name", "x", "--", "true"] if not (tmp_path / "x.json").exists() else ["ls"])
    assert imported_by(arguments) & (HEAVY | {"json", "re", "enum", "collections"}) == set()


@pytest.mark.parametrize("arguments", [["wait", "x"], ["monitor", "x"], ["run", "--", "true"]], ids=" ".join)
def test_without_a_terminal_nothing_is_loaded_that_reports_to_one(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MIDWATCH_HOME", str(tmp_path))
    loaded = imported_by(arguments)
    assert f"midwatch.cli.commands.{arguments[0]}" in loaded
    loaded -= {"midwatch.terminal", "midwatch.terminal.program_status"}  # which read what others report
    assert not [name for name in loaded if name.startswith("midwatch.terminal") or "terminal_" in name]
    assert "midwatch.terminal.report_model" not in loaded


def test_beat_imports_neither_json_nor_the_model() -> None:
    loaded = imported_by(["beat", "--note", "x", "--dir", "/nowhere", "--name", "x"])
    assert loaded & (HEAVY | {"json", "re", "enum", "midwatch.core"}) == set()


def test_the_shim_imports_no_more_than_it_must() -> None:
    code = (
        f"import sys; sys.path.append({str(ROOT / 'src')!r}); import midwatch.shim.shim; print('\\n'.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & (HEAVY | {"json", "re", "enum", "signal"}) == set()


def test_what_is_installed_holds_the_files_of_the_agents_and_the_hooks() -> None:
    """Data beside the code is easily forgotten by a build, and only noticed by users."""
    import tomllib  # noqa: PLC0415

    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["midwatch"]
    package = ROOT / "src" / "midwatch"
    data = {path for path in package.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert data == {path for pattern in told for path in package.glob(pattern) if path.suffix != ".pyc"}


def test_jobs_and_sessions_count_the_same_use_as_movement() -> None:
    """The judge may not import what the shim measures with, so the numbers stand twice."""
    assert {"cpu": session_verdict.CPU_RATE, "io": session_verdict.IO_RATE} == procfs.RATES
    assert session_verdict.RATE_SPAN == procfs.RATE_SPAN


READERS = frozenset((
    "startswith", "endswith", "partition", "rpartition", "removeprefix", "removesuffix", "split", "find", "index",
    "count", "match", "search", "fullmatch", "findall",
))  # fmt: skip
PROSE = frozenset(("reason", "says"))
"""What is written for people. Programs decide by causes, states and details."""


def is_prose(node: ast.expr) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr in PROSE) or (isinstance(node, ast.Name) and node.id in PROSE)


def compares_prose(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        empty = [isinstance(each, ast.Constant) and each.value in ("", None) for each in node.comparators]
        return any(map(is_prose, (node.left, *node.comparators))) and not all(empty)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READERS:
        return is_prose(node.func.value) or any(map(is_prose, node.args))
    return isinstance(node, ast.Match) and is_prose(node.subject)


def readers_of_prose(code: str) -> list[int]:
    return [node.lineno for node in ast.walk(ast.parse(code)) if compares_prose(node)]  # type: ignore[attr-defined]


def test_no_decision_reads_what_is_written_for_people() -> None:
    found = {str(path.relative_to(ROOT)): readers_of_prose(path.read_text()) for path in SOURCES}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "code",
    [
        "if 'Ctrl-C' in reason: pass",
        "verdict.reason.startswith('could not be started')",
        "verdict.reason.partition(', for ')[0]",
        "re.search('clock', verdict.reason)",
        "x = end.reason == 'stop was asked for'",
        "match verdict.reason:\n    case 'x': pass",
    ],
)
def test_a_decision_by_prose_would_be_found(code: str) -> None:
    assert readers_of_prose(code)


def test_an_empty_reason_may_be_told_from_one() -> None:
    assert not readers_of_prose("x = reason == ''")


STARTERS = frozenset(("which", "run", "Popen", "system", "popen", "call", "check_output", "execvp", "posix_spawnp"))


def runs_git(code: str) -> bool:
    """Whether a list begins with the program git, or a function that starts programs is given it."""
    for node in ast.walk(ast.parse(code)):
        found: list[ast.expr] = []
        if isinstance(node, ast.List):
            found = node.elts[:1]
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            found = node.args[:1] if called in STARTERS else []
        if any(isinstance(each, ast.Constant) and str(each.value).split()[:1] == ["git"] for each in found):
            return True
    return False


def test_one_module_runs_git() -> None:
    assert [str(path.relative_to(ROOT)) for path in SOURCES if runs_git(path.read_text())] == [
        "src/midwatch/integrations/git.py"
    ]


@pytest.mark.parametrize(
    "code", ["subprocess.run(['git', 'log'])", "asked = ['git', '-C', cwd]", "os.system('git log')", "which('git')"]
)
def test_running_git_elsewhere_would_be_found(code: str) -> None:
    assert runs_git(code)


@pytest.mark.parametrize("arguments", [["ls"], ["ps"], ["wait", "x"]], ids=" ".join)
def test_hot_verbs_load_the_table_of_their_own_group_only(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MIDWATCH_HOME", str(tmp_path))
    loaded = {name for name in imported_by(arguments) if name.startswith("midwatch.cli.command_table.")}
    assert loaded == {f"midwatch.cli.command_table.{name}" for name in ("jobs", "common_options")}
