"""What may stand where the cursor is, as the shells are told it."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.cli.command_table import ALIASES, VERBS
from tests.conftest import Box, tool


@pytest.fixture
def named(box: Box) -> Box:
    """A directory with jobs and a breaker."""
    (box.dir / "breakers").mkdir(parents=True, mode=0o700)
    box.path("breakers/night.jsonl").write_text("")
    for name in ("alpha", "beta"):
        box.path(f"{name}.status").write_text("SUCCESS\n")
    return box


def told(box: Box, line: str) -> tuple[str, list[str]]:
    """Kind and words for a line as typed; a blank at its end begins a new word."""
    done = box("_complete", "--", *line.split(" "))
    assert (done.code, done.err) == (0, ""), done
    kind, *words = done.out.splitlines()
    return kind, [word.split("\t")[0] for word in words]


VISIBLE = [verb for verb in VERBS if not verb.startswith("_")]
ANSWERS: dict[str, tuple[str, list[str]]] = {
    "": ("words", [*VISIBLE, *ALIASES]),
    "help ": ("words", [*VISIBLE, *ALIASES]),
    "kill al": ("words", ["alpha"]),
    "follow ": ("words", ["alpha", "beta"]),
    "follow -": ("words", ["--dir", "-n", "--raw", "--help"]),
    "ret": ("words", ["retry"]),
    "_": ("words", []),
    "wait ": ("words", ["alpha", "beta"]),
    "wait alpha ": ("words", ["beta"]),
    "wait -- ": ("words", ["alpha", "beta"]),
    "wait -- -": ("words", []),
    "logs al": ("words", ["alpha"]),
    "retry b": ("words", ["beta"]),
    "show ": ("words", ["alpha", "beta"]),
    "wait --until f": ("words", ["final", "failed"]),
    "run --on-stuck ": ("words", ["report", "stop"]),
    "run --progress output,cpu,": ("words", ["output,cpu,io", "output,cpu,beat", "output,cpu,heartbeat"]),
    "run --breaker ": ("words", ["night"]),
    "run --name al": ("words", ["alpha"]),
    "run --timeout ": ("words", []),
    "run --env A=b --env C=d --e": ("words", ["--env"]),
    "run --json --js": ("words", []),
    "run ": ("command 2", []),
    "run --policy strict ": ("command 4", []),
    "run --policy strict -- make ": ("command 5", []),
    "run make -": ("command 2", []),
    "run --policy=strict -": ("words", [f for f, _, _ in VERBS["run"]["options"] if f != "--policy"] + ["--help"]),  # type: ignore[attr-defined]
    "run --cwd ": ("directories", []),
    "wait --dir=": ("directories", []),
    "beat --result ": ("files", []),
    "beat --name ": ("words", ["alpha", "beta"]),
    "beat --progress ": ("words", []),
    "breaker ": ("words", ["status", "reset", "trip", "night"]),
    "breaker reset ": ("words", ["night"]),
    "breaker night ": ("words", ["--reason", "--dir", "--json", "--help"]),
    "agents ": ("words", ["list", "classify", "test"]),
    "agents classify --agent cla": ("words", ["claude"]),
    "agents classify --agent claude ": ("files", []),
    "agents test ": ("directories", []),
    "replay ": ("files", ["alpha", "beta"]),
    "trust ": ("files", []),
    "completion ": ("words", ["bash", "zsh", "fish"]),
    "adopt --pid 4 ": ("words", [f for f, _, _ in VERBS["adopt"]["options"] if f != "--pid"] + ["--help"]),  # type: ignore[attr-defined]
    "wobble ": ("words", []),
}


@pytest.mark.parametrize("line", ANSWERS)
def test_what_may_stand_there(named: Box, line: str) -> None:
    assert told(named, line) == ANSWERS[line]


@pytest.mark.parametrize("verb", VISIBLE)
def test_every_flag_of_every_verb_is_offered_with_its_help(box: Box, verb: str) -> None:
    offered = [line.split("\t") for line in box("_complete", "--", verb, "-").out.splitlines()[1:]]
    flags = [[flag, says] for flag, _, says in VERBS[verb]["options"]]  # type: ignore[attr-defined]
    assert offered[:-1] == flags
    assert offered[-1][0] == "--help"


def test_steps_of_another_directory_are_offered_for_adoption(named: Box, tmp_path: Path) -> None:
    (tmp_path / "pipeline").mkdir()
    (tmp_path / "pipeline" / "fetch.pid").write_text("1\n")
    assert told(named, f"adopt --dir {tmp_path}/pipeline ") == ("words", ["fetch"])
    named.env["HOME"] = str(tmp_path)
    assert told(named, "wait --dir ~/pipeline ") == ("words", ["fetch"])


def test_where_there_is_nothing_nothing_is_offered_and_nothing_is_made(box: Box) -> None:
    for line in ("run --name ", "run --breaker ", "why %", "record "):
        assert told(box, line)[0] == "words"
    assert told(box, "run --name ") == ("words", [])
    assert not box.dir.exists()


@pytest.fixture
def server(box: Box) -> Iterator[str]:
    """A tmux server of our own with one pane."""
    socket = str(box.cwd / "s")
    tmux = [tool("tmux"), "-f", "/dev/null", "-S", socket]
    subprocess.run([*tmux, "new-session", "-d", "-s", "work", "cat"], env=box.env, check=True)
    yield socket
    subprocess.run([*tmux, "kill-server"], env=box.env, check=False)


def test_panes_are_offered_where_a_pane_may_stand(box: Box, server: str) -> None:
    for line in (f"why -S {server} %", f"record -S {server} "):
        done = box("_complete", "--", *line.split(" "))
        assert done.out == "words\n%0\twork:0 cat\n"
    assert told(box, f"wait -S {server} %") == ("words", [])


def test_it_loads_nothing_heavy(box: Box) -> None:
    script = (
        "import sys; sys.argv = ['midwatch', '_complete', '--', 'wait', '']\n"
        "from midwatch.cli.main import main; main()\n"
        "print([name for name in ('json', 're', 'asyncio', 'subprocess', 'typing') if name in sys.modules])"
    )
    box.program = [box.program[0], "-c", script]
    assert box().out.splitlines()[-1] == "[]"
