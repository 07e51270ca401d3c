"""`midwatch trust`: what it shows, what it asks, what it needs."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import time
from pathlib import Path

import pytest

from midwatch.cli.commands.trust import NOT_COVERED
from tests.conftest import PATIENCE, Box

TEXT = """\
[[check]]
module = "yaml"
fix = "uv sync"

[[check]]
tcp = "localhost:5432"

[[check]]
run = "scripts/healthy"
"""


@pytest.fixture
def file(box: Box) -> Path:
    path = box.cwd / "midwatch.toml"
    path.write_text(TEXT)
    path.chmod(0o644)
    return path


def listed(box: Box) -> list[tuple[str, str]]:
    done = box("trust", "--list", "--json")
    assert done.code == 0, done
    return [(row["path"], row["state"]) for row in map(json.loads, done.out.splitlines())]


class Asked:
    """`midwatch trust` on a terminal."""

    def __init__(self, box: Box, *arguments: str) -> None:
        self.master, slave = pty.openpty()
        self.shown = ""
        self.process = box.start("trust", *arguments, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)
        self.see("[y/N]")

    def see(self, wanted: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while wanted not in self.shown:
            ready, _, _ = select.select([self.master], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, self.shown
            self.shown += os.read(self.master, 65536).decode()

    def answer(self, keys: str) -> int:
        os.write(self.master, keys.encode())
        code = self.process.wait(PATIENCE)
        os.close(self.master)
        return code


def test_it_shows_each_command_with_its_line_and_trusts_with_yes(box: Box, file: Path) -> None:
    done = box("trust", "--yes")
    assert (done.code, done.err) == (0, ""), done
    assert done.out.splitlines() == [
        f"{file} wants to run:",
        "  line 1    module   yaml  with the project's own Python",
        "            fix: uv sync",
        "  line 5    tcp      localhost:5432",
        "  line 8    run      scripts/healthy",
        "No script of the project is named by its path.",
        "Not covered: what these call in turn, other files, words with no path or with `$` or `*`, Python's libraries.",
        f"{file} is trusted until it changes",
    ]
    assert listed(box) == [(str(file), "trusted")]


def test_without_a_terminal_it_refuses_and_says_how(box: Box, file: Path) -> None:
    done = box("trust", stdin="y\n")
    assert (done.code, "scripts/healthy" in done.out) == (12, True), done
    assert done.err == f"midwatch: nobody can be asked here: read {file}, then `midwatch trust --yes`\n"
    assert listed(box) == []


@pytest.mark.parametrize("answer", ["y\n", "YES\n"])
def test_on_a_terminal_it_asks_and_trusts(box: Box, file: Path, answer: str) -> None:
    asked = Asked(box)
    assert "scripts/healthy" in asked.shown
    assert asked.answer(answer) == 0
    assert listed(box) == [(str(file), "trusted")]


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize("answer", ["\n", "n\n", "yep\n", "\x04"])
def test_anything_but_yes_is_no(box: Box, answer: str) -> None:
    assert Asked(box).answer(answer) == 12
    assert listed(box) == []


def test_a_file_that_is_exchanged_while_it_is_asked_for_is_not_trusted(box: Box, file: Path) -> None:
    asked = Asked(box)
    file.write_text(TEXT.replace("healthy", "evil"))
    assert asked.answer("y\n") == 0
    assert listed(box) == [(str(file), "changed")]


@pytest.mark.usefixtures("file")
def test_a_terminal_on_which_nothing_is_shown_is_not_asked(box: Box) -> None:
    master, slave = pty.openpty()
    with box.start("trust", stdin=slave) as process:
        os.write(master, b"y\n")
        out, err = process.communicate(timeout=PATIENCE)
    os.close(slave)
    os.close(master)
    assert (process.returncode, "nobody can be asked here" in err) == (12, True), out
    assert listed(box) == []


@pytest.mark.usefixtures("file")
def test_what_is_trusted_already_is_not_asked_for_again(box: Box) -> None:
    assert box("trust", "--yes").code == 0
    done = box("trust")
    assert (done.code, "is trusted until it changes" in done.out) == (0, True), done


def test_json_has_one_line_per_command_one_for_what_is_not_covered_and_one_for_the_file(box: Box, file: Path) -> None:
    done = box("trust", "--yes", "--json")
    assert [json.loads(line) for line in done.out.splitlines()] == [
        {"schema": 1, "line": 1, "command": {"kind": "module", "target": "yaml", "venv": "", "fix": "uv sync"}},
        {"schema": 1, "line": 5, "command": {"kind": "tcp", "target": "localhost:5432", "venv": "", "fix": ""}},
        {"schema": 1, "line": 8, "command": {"kind": "run", "target": "scripts/healthy", "venv": "", "fix": ""}},
        {"schema": 1, "not_covered": NOT_COVERED},
        {"schema": 1, "path": str(file), "state": "trusted"},
    ]
    refused = box("trust", "--json", XDG_STATE_HOME=str(box.cwd / "elsewhere"))
    assert (refused.code, len(refused.out.splitlines())) == (12, 4), refused


HIDING = """\
[[check]]
module = "rm -rf /\\r\\u001b[2K\\u001b[1Atrue\\u202e\\u2066\\u200b\\u009b2J"
fix = '''
first
second'''
venv = "x\\u0007"
"""


@pytest.mark.parametrize("arguments", [(), ("--json",)], ids=["people", "machines"])
def test_nothing_in_a_file_can_hide_a_command(box: Box, file: Path, arguments: tuple[str, ...]) -> None:
    file.write_text(HIDING)
    done = box("trust", "--yes", *arguments)
    assert done.code == 0
    assert all(row.isprintable() for row in done.out.split("\n")), done.out
    assert "rm -rf /\\r" in done.out
    assert "first\\nsecond" in done.out
    assert len(done.out.splitlines()) == (3 if arguments else 6)  # JSON has a line for what is not covered, too


def test_a_file_without_commands_is_said_to_run_none(box: Box, file: Path) -> None:
    file.write_text("[run]\nretries = 1\n")
    done = box("trust", "--yes")
    assert (done.code, f"{file} runs no command" in done.out) == (0, True), done


def test_a_named_file_is_trusted_from_anywhere(box: Box, file: Path) -> None:
    box.cwd = box.cwd / "below"
    box.cwd.mkdir()
    (box.cwd / ".git").mkdir()
    assert box("trust", "--yes", "../midwatch.toml").code == 0
    assert listed(box) == [(str(file), "trusted")]


def test_the_default_is_the_file_of_the_project_and_not_of_the_directory(box: Box, file: Path) -> None:
    box.cwd = box.cwd / "below"
    box.cwd.mkdir()
    assert box("trust", "--yes").code == 0
    assert listed(box) == [(str(file), "trusted")]


def test_the_list_tells_what_became_of_each_file(box: Box, file: Path) -> None:
    others = [box.cwd / name / "midwatch.toml" for name in ("changed", "gone", "unsafe")]
    for other in (file, *others):
        other.parent.mkdir(mode=0o755, exist_ok=True)
        other.write_text(TEXT)
        other.chmod(0o644)
        assert box("trust", "--yes", str(other)).code == 0
    others[0].write_text(TEXT + "\n")
    others[1].unlink()
    others[2].chmod(0o666)
    assert listed(box) == [
        (str(file), "trusted"), (str(others[0]), "changed"), (str(others[1]), "gone"), (str(others[2]), "unsafe"),
    ]  # fmt: skip
    rows = box("trust", "--list").out.splitlines()
    assert [(row.split()[0], row.split()[-1]) for row in rows] == [(state, path) for path, state in listed(box)]


def test_an_empty_list_says_what_to_do(box: Box) -> None:
    done = box("trust", "--list")
    assert (done.code, done.out, "`midwatch trust`" in done.err) == (0, "", True), done


@pytest.mark.parametrize("gone", [False, True])
def test_trust_can_be_taken_back_also_when_the_file_is_gone(box: Box, file: Path, *, gone: bool) -> None:
    assert box("trust", "--yes").code == 0
    if gone:
        file.unlink()
    done = box("trust", "--remove", str(file), "--json")
    assert (done.code, done.json) == (0, {"schema": 1, "path": str(file), "state": "removed"}), done
    assert listed(box) == []
    again = box("trust", "--remove", str(file))
    assert (again.code, "is not trusted anyway" in again.err) == (12, True), again


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("a", "b"), 2, "one file at a time"),
        (("--list", "a"), 2, "--list shows all"),
        (("--list", "--remove"), 2, "--list shows all"),
        (("--yes", "nowhere.toml"), 12, "there is no nowhere.toml; name the settings file"),
        (("--yes", "."), 12, ".:1: cannot be read: not a regular file"),
        (("--yes", "broken.toml"), 12, "broken.toml:2: unknown key 'rnu'; did you mean run?"),
    ],
)
def test_what_cannot_be_trusted_is_refused(box: Box, arguments: tuple[str, ...], code: int, says: str) -> None:
    (box.cwd / "broken.toml").write_text('[[check]]\nrnu = "x"\n')
    done = box("trust", *arguments)
    assert (done.code, says in done.err) == (code, True), done
    assert listed(box) == []


def test_the_users_own_file_needs_none(box: Box) -> None:
    own = box.cwd / ".config" / "midwatch" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(TEXT)
    done = box("trust", "--yes", str(own))
    assert (done.code, "needs no trust" in done.err) == (12, True), done
    assert listed(box) == []


def test_without_a_file_in_the_project_it_says_so(box: Box) -> None:
    (box.cwd / ".git").mkdir()
    done = box("trust", "--yes")
    assert (done.code, f"there is no {box.cwd}/midwatch.toml" in done.err) == (12, True), done


def test_a_file_that_others_may_write_is_refused_before_anything_is_asked(box: Box, file: Path) -> None:
    file.chmod(0o666)
    done = box("trust", "--yes")
    assert (done.code, done.out) == (12, ""), done
    assert "others may write to" in done.err
    assert "chmod go-w" in done.err


def test_no_variable_stands_in_for_yes(box: Box, file: Path) -> None:
    assert box("trust", MIDWATCH_TRUST="1", MIDWATCH_YES="1").code == 12
    assert listed(box) == []
    assert file.exists()


def test_many_at_once_lose_nothing(box: Box) -> None:
    files = [box.cwd / str(number) / "midwatch.toml" for number in range(8)]
    for path in files:
        path.parent.mkdir(mode=0o755)
        path.write_text(TEXT)
        path.chmod(0o644)
    calls = [box.start("trust", "--yes", str(path), stdout=subprocess.DEVNULL) for path in files]
    for call in calls:
        _, err = call.communicate(timeout=PATIENCE)
        assert call.returncode == 0, err
    assert sorted(listed(box)) == [(str(path), "trusted") for path in files]
