"""`midwatch init`: settings to begin with, and nothing that was there changed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from midwatch.config.codec import settings_file
from midwatch.config.codec.starter_file import ProjectFindings, format_starter
from midwatch.verification.project_tests import find_test_command
from tests.conftest import Box
from tests.integration.doctor.test_doctor import install

SETTING = re.compile(r"^#(?=[a-z\[])", re.MULTILINE)
"""The sign of a comment before a setting; before prose a blank follows."""


def test_the_file_is_only_comments_and_says_what_was_found(box: Box, tmp_path: Path) -> None:
    (box.cwd / ".git").mkdir()
    (box.cwd / ".beads").mkdir()
    (box.cwd / "Makefile").write_text("test:\n\ttrue\n")
    done = box("init", PATH=install(tmp_path, "codex", "0.166.0"))
    assert done.code == 0, done
    text = (box.cwd / "midwatch.toml").read_text()
    assert all(line.startswith("#") for line in text.splitlines() if line)
    assert "Agents found here: Codex 0.166.0\n" in text
    assert "spawn api --agent codex --prompt-file task.md --verify 'make test'" in text
    assert "Tasks are kept in: beads\n" in text
    assert ["Codex 0.166.0" in done.out, "make test" in done.out, "beads" in done.out] == [True] * 3
    assert box("doctor").code == 0


@pytest.mark.parametrize("tracker", ["", "beads", "sprint", "kanban"])
def test_each_setting_in_it_is_right_once_its_sign_is_removed(tracker: str) -> None:
    text = SETTING.sub("", format_starter(ProjectFindings(tests="just test", tracker=tracker)))
    found = settings_file.read(text, "midwatch.toml")
    assert found.retries == 2
    assert [channel.kind for channel in found.channels] == ["command", "url"]
    assert (found.tracker, [check.kind for check in found.checks]) == (tracker or "tasks", ["disk", "command"])


def test_a_file_that_is_there_is_not_changed(box: Box) -> None:
    path = box.cwd / "midwatch.toml"
    path.write_text("[run]\nretries = 1\n")
    done = box("init")
    assert (done.code, path.read_text()) == (12, "[run]\nretries = 1\n")
    assert "is there already" in done.err
    assert box("init", "--dry-run").out.startswith("# Settings of Midwatch")


def test_it_is_written_to_the_root_of_the_project(box: Box) -> None:
    (box.cwd / ".git").mkdir()
    (box.cwd / "deep" / "er").mkdir(parents=True)
    root, box.cwd = box.cwd, box.cwd / "deep" / "er"
    found = box("init", "--json").json
    assert found["path"] == str(root / "midwatch.toml")
    assert Path(found["path"]).exists()


def test_where_nothing_can_be_written_it_says_so(box: Box) -> None:
    read_only = 'mount -t tmpfs -o ro none . && cd . && exec "$@"'
    box.program = ["unshare", "-Urm", "sh", "-c", read_only, "sh", *box.program]
    done = box("init")
    assert done.code == 12
    assert "could not be written" in done.err


def test_a_first_channel_is_written_for_this_user_alone(box: Box) -> None:
    assert box("init", "--notify", "ntfy://a-topic").code == 0
    path = Path(box.env["HOME"]) / ".config/midwatch/config.toml"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [json.loads(line)["channel"] for line in box("notify", "--json").out.splitlines()] == ["ntfy://…"]
    before = path.read_text()
    again = box("init", "--notify", "ntfy://another")
    assert (again.code, path.read_text()) == (12, before)
    assert 'urls = ["ntfy://another"]' in again.err


def test_what_is_no_url_is_a_usage_error(box: Box) -> None:
    assert box("init", "--notify", "topic").code == 2


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"Makefile": "all: x\n\ntest: lint unit\n"}, "make test"),
        ({"Makefile": "test := 1\n"}, ""),
        ({"Makefile": ".PHONY: test\ntests:\n"}, ""),
        ({"justfile": "test *args:\n  pytest\n"}, "just test"),
        ({"package.json": '{"scripts": {"test": "vitest"}}'}, "npm test"),
        ({"package.json": '{"scripts": {"test": "vitest"}}', "pnpm-lock.yaml": ""}, "pnpm test"),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, ""),
        ({"package.json": '{"scripts": ["test"]}'}, ""),
        ({"package.json": "[" * 100_000}, ""),
        ({"Cargo.toml": ""}, "cargo test"),
        ({"go.mod": ""}, "go test ./..."),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "pytest"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n", "uv.lock": ""}, "uv run pytest"),
        ({"pyproject.toml": "[project]\n"}, ""),
        ({}, ""),
    ],
)
def test_the_command_of_the_tests_is_told_by_the_tools_files(
    tmp_path: Path, files: dict[str, str], command: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert find_test_command(str(tmp_path)) == command
