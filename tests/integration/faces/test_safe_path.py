"""A directory may hold modules of anybody: none of them is loaded because a verb was called there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Box, until

BEFORE_US = (
    "import sys, importlib.util, importlib.machinery, runpy, encodings.utf_8; print(*sorted(sys.modules), sep='\\n')"
)


def loaded_by_python() -> set[str]:
    """What `python -m` itself loads before it comes to the module."""
    done = subprocess.run([sys.executable, "-P", "-c", BEFORE_US], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def plant(directory: Path, names: set[str]) -> Path:
    """Modules of these names that leave a trace."""
    trace = directory / "trace"
    for name in names:
        (directory / f"{name}.py").write_text(f"open({str(trace)!r}, 'a').write('{name}\\n')\nraise ImportError\n")
    return trace


@pytest.fixture
def trace(box: Box) -> Path:
    return plant(box.cwd, {*sys.stdlib_module_names, "yaml", "paho", "apprise"} - loaded_by_python())


@pytest.mark.parametrize(
    "words",
    [
        ("ls",), ("ls", "--panes"), ("doctor",), ("run", "--", "true"), ("events",), ("reconcile", "--once"),
        ("beat", "--name", "x"), ("wait", "x"), ("why", "%0"), ("trust", "--list"), ("preflight",),
    ],
    ids=" ".join,
)  # fmt: skip
def test_no_verb_loads_a_module_from_where_it_is_called(box: Box, trace: Path, words: tuple[str, ...]) -> None:
    (box.cwd / "midwatch.toml").write_text("[policy]\nstale = 60\n")
    (box.cwd / "midwatch-sessions.yaml").write_text("sessions: []\n")
    done = box(*words)
    assert not trace.exists(), trace.read_text()
    assert "Traceback" not in done.err


def test_story_automator_loads_none_either(box: Box, trace: Path) -> None:
    box.program = [sys.executable, "-m", "midwatch.compat.story_automator"]
    done = box("tmux-wrapper", "project-slug")
    assert (trace.exists(), done.code) == (False, 0), done


def test_what_is_started_in_the_background_loads_none(box: Box, trace: Path) -> None:
    """The shim, what judges beside it, and what delivers notices."""
    settings = box.cwd / "config" / "midwatch" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[notify]\ncommand = "touch told"\non = ["completed"]\n')
    done = box("run", "--name", "job", "--", "true", XDG_CONFIG_HOME=str(box.cwd / "config"))
    assert done.code == 0, done
    until((box.cwd / "told").exists, box.cwd)
    assert not trace.exists(), trace.read_text()


@pytest.mark.parametrize("module", ["midwatch", "midwatch.compat.story_automator"])
def test_what_python_itself_took_from_there_is_an_error(box: Box, module: str) -> None:
    """It has run by then; but nothing goes on, and the message names a way that is safe."""
    import contextlib  # noqa: PLC0415

    (box.cwd / "contextlib.py").write_text(Path(contextlib.__file__).read_text())
    box.program = [sys.executable, "-m", module]
    done = box("ls")
    assert (done.code, done.out) == (1, "")
    assert "loaded contextlib from the current directory" in done.err
    assert "python -P -m midwatch" in done.err
    box.program = [sys.executable, "-P", "-m", module]
    assert "contextlib" not in box("--help").err
