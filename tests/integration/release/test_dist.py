"""What is released: built from a copy of the sources, put into an empty environment without a network, used there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import midwatch
from tests.conftest import PATIENCE, Box

ROOT = Path(__file__).parents[3]
OFFLINE = {
    "SOURCE_DATE_EPOCH": "1700000000",
    "PIP_NO_INDEX": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_CONFIG_FILE": os.devnull,
}


def call(*command: str | Path, **env: str) -> str:
    done = subprocess.run(
        list(map(str, command)), env=os.environ | OFFLINE | env, cwd="/", capture_output=True, text=True,
        timeout=PATIENCE * 4, check=False, umask=int(env.get("UMASK", "022"), 8),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def copied(there: Path) -> Path:
    """The sources as someone else has them, with what work leaves lying about."""
    for part in ("pyproject.toml", "README.md", "LICENSE", "scripts", "src"):
        here = ROOT / part
        leave_out = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(here, there / part, ignore=leave_out) if here.is_dir() else shutil.copy(here, there / part)
    for stray in ("build/lib/midwatch/old.py", "src/midwatch/__pycache__/x.pyc", "src/midwatch.egg-info/SOURCES.txt"):
        (there / stray).parent.mkdir(parents=True, exist_ok=True)
        (there / stray).write_text("left over\n")
    return there


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The wheel and the source archive."""
    out = tmp_path_factory.mktemp("out")
    (sources := tmp_path_factory.mktemp("somewhere") / "checkout").mkdir()
    said = call(sys.executable, copied(sources) / "scripts/dist", out)
    assert sorted(said.split()) == sorted(map(str, out.iterdir()))
    return sorted(out.iterdir())


@pytest.fixture(scope="module")
def installed(built: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment with nothing but the wheel in it."""
    venv = tmp_path_factory.mktemp("venv") / "env"
    call(sys.executable, "-m", "venv", "--without-pip", venv)
    call(sys.executable, "-m", "pip", "--python", venv / "bin/python", "install", "--no-deps", "--quiet", built[0])
    return venv


@pytest.fixture
def elsewhere(installed: Path, box: Box) -> Box:
    """The installed program, in an empty home and nowhere near the sources."""
    del box.env["MIDWATCH_HOME"]
    box.env["PATH"] = f"{installed}/bin:{os.defpath}"
    box.program = [f"{installed}/bin/midwatch"]
    (box.cwd / "project" / ".git").mkdir(parents=True)
    box.cwd = box.cwd / "project"
    return box


def digests(paths: list[Path]) -> list[str]:
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]


def test_the_same_sources_give_the_same_bytes(built: list[Path], tmp_path: Path) -> None:
    (sources := tmp_path / "another place").mkdir()
    for path in copied(sources).rglob("*"):
        path.chmod(0o700)
        os.utime(path, (1, 1))
    call(sys.executable, sources / "scripts/dist", tmp_path / "out", UMASK="077", TZ="Asia/Tokyo", HOME=str(tmp_path))
    assert digests(sorted((tmp_path / "out").iterdir())) == digests(built)


def test_the_source_archive_gives_the_same_wheel(built: list[Path], tmp_path: Path) -> None:
    with tarfile.open(built[1]) as archive:
        archive.extractall(tmp_path, filter="data")
    (sources,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    call(*pip, "--wheel-dir", tmp_path, sources)
    assert digests([tmp_path / built[0].name]) == digests(built[:1])


def test_it_holds_every_source_and_nothing_of_the_machine(built: list[Path]) -> None:
    package = ROOT / "src"
    wanted = {str(path.relative_to(package)) for path in (package / "midwatch").rglob("*") if path.is_file()}
    with zipfile.ZipFile(built[0]) as wheel:
        inside = {name: wheel.read(name) for name in wheel.namelist()}
    code = {name for name in inside if not name.startswith(f"midwatch-{midwatch.__version__}.dist-info/")}
    assert code == {path for path in wanted if "__pycache__" not in path and not Path(path).name.startswith(".")}
    with tarfile.open(built[1]) as archive:
        assert {(member.uid, member.uname, member.mtime) for member in archive} == {(0, "", 1_700_000_000)}
        inside |= {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}  # type: ignore[union-attr]
    traces = [str(ROOT), str(built[0].parent), "left over"]
    assert [(name, trace) for name, data in inside.items() for trace in traces if trace.encode() in data] == []


def test_a_job_is_run_with_what_was_installed(elsewhere: Box, installed: Path) -> None:
    assert elsewhere("run", "-d", "--name", "job", "--", "sh", "-c", "midwatch beat --note half; echo hello").code == 0
    ended = elsewhere("wait", "job", "--json")
    assert (ended.code, ended.json["state"]) == (0, "completed"), elsewhere("logs", "job")
    assert ended.json["log"].startswith(f"{elsewhere.env['HOME']}/.local/state/midwatch/project-")
    assert elsewhere("logs", "job").out == "hello\n"
    assert "completed" in elsewhere("ls").out
    record = json.loads(Path(ended.json["log"]).with_suffix(".json").read_text())
    assert record["end"]["state"] == "completed"
    assert elsewhere("--version").out == f"midwatch {midwatch.__version__}\n"
    elsewhere.program = [f"{installed}/bin/python", "-c", "import midwatch; print(midwatch.__file__)"]
    assert Path(elsewhere().out.strip()).is_relative_to(installed)


def test_what_lies_beside_the_code_has_been_installed_with_it(elsewhere: Box, installed: Path) -> None:
    agents = [json.loads(line)["agent"] for line in elsewhere("agents", "list", "--json").out.splitlines()]
    assert agents == sorted(path.parent.name for path in (ROOT / "src/midwatch/agents").glob("*/definition.toml"))
    assert elsewhere("doctor").code == 0, elsewhere("doctor")
    (found,) = installed.glob("lib/python*/site-packages/midwatch")
    for part in ("py.typed", "agents/hooks/hook.sh", "agents/opencode/plugin.js"):
        assert (found / part).read_bytes() == (ROOT / "src/midwatch" / part).read_bytes()


def test_story_automator_is_installed_beside_it(elsewhere: Box, installed: Path) -> None:
    elsewhere.program = [f"{installed}/bin/story-automator"]
    assert elsewhere("validate-story-creation", "prefix", "5.3").out == "5-3\n"


def test_programs_can_use_what_was_installed(elsewhere: Box, installed: Path) -> None:
    script = "import midwatch; print(midwatch.run(['false'], name='job').name, midwatch.wait('job').state)"
    elsewhere.program = [f"{installed}/bin/python", "-W", "error", "-c", script]
    done = elsewhere()
    assert (done.out, done.err) == ("job failed\n", "")


def test_make_dist_is_that_script_and_its_results_are_not_for_git() -> None:
    recipe = (ROOT / "Makefile").read_text().split("\ndist:", 1)[1].split("\n\n", 1)[0]
    assert "scripts/dist dist" in recipe
    assert {"dist/", "build/"} <= set((ROOT / ".gitignore").read_text().split())
