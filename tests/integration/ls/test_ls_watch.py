"""`ls --watch` shows each change in place, and leaves the terminal as it was. The terminal is a pane of tmux."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Box, until
from tests.integration.panes.private import Private
from tests.integration.wait.watching import Gate, start, start_gated


class Screen:
    """A terminal of some size with a shell in it."""

    def __init__(self, box: Box, tmux: Private, size: tuple[int, int]) -> None:
        self.tmux = tmux
        env = shlex.join(["env", *(f"{name}={value}" for name, value in box.env.items()), "PS1=$ "])
        self.pane = tmux.start(f"{env} sh", "screen", size=size, cwd=str(box.cwd))
        self.call = shlex.join([*box.program, "ls", "--watch"])

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-t", self.pane, "-l", text)
        self.tmux("send-keys", "-t", self.pane, "Enter")

    def rows(self) -> list[str]:
        return [row for row in self.tmux.screen(self.pane) if row]

    def until_row(self, *words: str) -> list[str]:
        """Wait for a row that begins with these words."""
        until(lambda: any(row.split()[: len(words)] == [*words] for row in self.rows()))
        return self.rows()

    def flags(self) -> str:
        shown = "#{history_size} #{alternate_on} #{cursor_flag}"
        return self.tmux("display-message", "-p", "-t", self.pane, shown).strip()


@pytest.fixture
def tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Private]:
    for name in ("TMUX", "TMUX_PANE"):
        monkeypatch.delenv(name, raising=False)
    found = Private(tmp_path / "s")
    yield found
    found.end()


@pytest.mark.parametrize("columns", [60, 80])
def test_changes_are_drawn_in_place_and_ctrl_c_leaves_the_last_table(
    box: Box, tmux: Private, gate: Gate, columns: int
) -> None:
    screen = Screen(box, tmux, (columns, 12))
    screen.type(f"clear; {screen.call}")
    until(lambda: screen.rows() == ["nothing here yet"])
    start_gated(box, gate, "build-of-everything-with-a-long-name", "exit 3")
    start(box, "server", "sleep", "300")
    screen.until_row("server", "working")
    gate.say()
    rows = screen.until_row("build-of-everything-with-a-long-name"[: 11 if columns == 60 else 25] + "…", "failed")
    assert [row.split()[0] for row in rows][:2] == ["NAME", "server"]
    assert "ENDED" in rows[0]
    assert len(rows) == 3
    assert max(map(len, rows)) <= columns
    assert screen.flags() == "0 0 1", "nothing scrolled, no other screen, the cursor is shown"
    tmux("send-keys", "-t", screen.pane, "C-c")
    until(lambda: screen.rows()[-1].startswith("$"))
    assert screen.rows()[:3] == rows or "ago" in "".join(screen.rows())
    assert "Traceback" not in "".join(screen.rows())
    screen.type("stty -a | grep -o ' echo '; echo modes")
    assert screen.until_row("modes")[-3:-1] == [" echo", "modes"], "what is typed is shown"


def test_more_jobs_than_rows_are_counted(box: Box, tmux: Private) -> None:
    box.dir.mkdir(mode=0o700)
    for number in range(30):
        box.path(f"job-{number:02d}.status").write_text("SUCCESS\n")
    screen = Screen(box, tmux, (80, 10))
    screen.type(f"clear; {screen.call}")
    rows = screen.until_row("and", "23", "more")
    assert len(rows) == 9
    assert screen.flags() == "0 0 1"


def test_after_a_change_of_the_size_the_table_is_drawn_anew(box: Box, tmux: Private) -> None:
    start(box, "server", "sleep", "300")
    screen = Screen(box, tmux, (100, 20))
    screen.type(f"clear; {screen.call}")
    screen.until_row("server", "working")
    tmux("resize-window", "-t", screen.pane, "-x", "40", "-y", "8")
    start(box, "other", "sleep", "300")
    screen.until_row("other", "working")
    assert [row.split()[0] for row in screen.rows()] == ["NAME", "other", "server"]


def test_json_is_one_line_for_each_change(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "build", "exit 3")
    with box.start("ls", "--watch", "--json") as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        gate.say()
        second = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stdout.read() == ""
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert [(line["name"], line["state"]) for line in (first, second)] == [("build", "working"), ("build", "failed")]
    assert second["ended_at"] == box.record("build")["end"]["at"]


def test_who_reads_no_more_ends_it(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "build", "exit 3")
    with box.start("ls", "--watch", "--json") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        gate.say()
        assert process.wait(30) == 141


def test_without_a_terminal_it_says_what_to_do(box: Box) -> None:
    done = box("ls", "--watch")
    assert done.code == 2
    assert "--watch --json" in done.err


def test_agents_in_panes_are_watched_too(box: Box, tmux: Private) -> None:
    tmux.start("cat", "desk")
    call = [*box.program, "ls", "--watch", "--panes", "--json", "-S", str(tmux.socket)]
    with subprocess.Popen(call, env=box.env, cwd=box.cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"")
