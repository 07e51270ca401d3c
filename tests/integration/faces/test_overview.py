"""`midwatch` alone on a terminal shows what is there and what to do next; without one it prints its help."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios

import pytest

from midwatch.cli.command_table import ALIASES, VERBS
from midwatch.cli.commands.overview import suggest_commands
from midwatch.core.states import VerdictState
from midwatch.core.verdict import FINAL, LIVE, Verdict
from tests.conftest import Box
from tests.integration.panes.private import Private
from tests.integration.wait.watching import start


def shown(box: Box, columns: int = 80, **env: str) -> tuple[int, list[str]]:
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        box.program, stdin=follower, stdout=follower, stderr=follower, env=box.env | env, cwd=box.cwd
    )
    os.close(follower)
    found = b""
    try:
        while data := os.read(leader, 4096):
            found += data
    except OSError:
        pass  # it has ended
    os.close(leader)
    return process.wait(30), found.decode().replace("\r", "").splitlines()


@pytest.fixture
def quiet(box: Box) -> Box:
    """Without colours, and without the tmux server of whoever runs the tests."""
    box.env |= {"NO_COLOR": "1", "TMUX_TMPDIR": str(box.cwd)}
    return box


@pytest.mark.parametrize("columns", [60, 80])
def test_jobs_are_shown_with_what_can_be_done(quiet: Box, columns: int) -> None:
    start(quiet, "tests-of-the-whole-shop", "false")
    quiet("wait", "tests-of-the-whole-shop")
    start(quiet, "server", "sleep", "300")
    code, rows = shown(quiet, columns)
    assert code == 0
    assert rows[0] == f"{quiet.cwd.name}: 1 at work, 1 ended"
    name = "tests-of-the-whole-shop" if columns == 80 else "tests-of-th…"
    assert [row.split()[0] for row in rows[1:4]] == ["NAME", "server", name]
    commands = [" ".join(row.split()[:4]) for row in rows[rows.index("Next:") + 1 :]]
    assert "midwatch logs -f server" in commands
    assert "midwatch logs -n 50" in commands
    assert commands[-1].startswith("midwatch --help")
    assert max(map(len, rows)) <= columns


def test_where_nothing_is_it_says_how_to_begin(quiet: Box) -> None:
    code, rows = shown(quiet)
    assert (code, rows[0]) == (0, f"{quiet.cwd.name}: no jobs here yet")
    assert any(row.startswith("  midwatch run -d -- CMD") for row in rows)
    assert any(row.startswith("  midwatch demo") for row in rows)


def test_only_a_few_ended_jobs_are_shown(quiet: Box) -> None:
    quiet.dir.mkdir(mode=0o700)
    for number in range(9):
        quiet.path(f"job-{number}.status").write_text("SUCCESS\n")
    _, rows = shown(quiet)
    assert "and 4 more that have ended; `midwatch ls` shows all" in rows


def test_agents_in_panes_are_counted(quiet: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TMUX", "TMUX_PANE"):
        monkeypatch.delenv(name, raising=False)
    directory = quiet.cwd / f"tmux-{os.getuid()}"
    directory.mkdir(mode=0o700)
    tmux = Private(directory / "default")
    try:
        program = quiet.cwd / "claude"
        program.write_text("#!/bin/bash\nexec -a claude sleep 300\n")
        program.chmod(0o755)
        tmux.start(str(program), "desk")
        _, rows = shown(quiet)
        assert next(row for row in rows if "in tmux panes" in row).startswith("1 agent in tmux panes: 1 ")
    finally:
        tmux.end()


def test_without_a_terminal_it_is_the_help(quiet: Box) -> None:
    assert quiet().out == quiet("--help").out


@pytest.mark.parametrize("kind", ["job", "session"])
@pytest.mark.parametrize("state", [*LIVE, *FINAL])
def test_every_suggestion_is_a_command_that_there_is(kind: str, state: VerdictState) -> None:
    verdict = Verdict("api", kind, state, state in FINAL, "", "gone", "unknown")
    for command, says in suggest_commands([verdict], agents=True):
        program, verb, *rest = command.split()
        assert (program, verb in VERBS or verb in ALIASES or verb == "--help", bool(says)) == ("midwatch", True, True)
        flags = {flag for flag, _, _ in VERBS[verb]["options"]} if verb in VERBS else set()  # type: ignore[attr-defined]
        assert {word for word in rest if word.startswith("-") and word != "--"} <= flags
