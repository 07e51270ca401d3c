"""`midwatch doctor`: what is missing, wrong or not tested."""

from __future__ import annotations

import json
from pathlib import Path

import midwatch
from tests.conftest import Box


def found(box: Box, **env: str) -> dict[str, tuple[str, str]]:
    lines = box("doctor", "--json", **env).out.splitlines()
    return {each["about"]: (each["level"], each["says"]) for each in map(json.loads, lines)}


def test_a_plain_machine_is_in_order(box: Box) -> None:
    done = box("doctor", PATH="/nowhere", TMUX_TMPDIR="/nowhere", TMUX="")
    assert done.code == 0, done
    assert done.out.startswith("ok       python")
    assert "install tmux" in done.out
    assert f"({Path(midwatch.__file__).parent})\n" in done.out


def test_a_path_of_python_that_leads_to_the_current_directory_is_a_warning(box: Box) -> None:
    for path in (":/x", "lib", "/x:"):
        level, says = found(box, PYTHONPATH=path, TMUX_TMPDIR="/nowhere")["python"]
        assert (level, "empty or relative entry" in says) == ("warning", True)
    assert found(box, PYTHONPATH="/x:/y", TMUX_TMPDIR="/nowhere")["python"][0] == "ok"


def install(directory: Path, name: str, version: str) -> str:
    """An npm package with a program, as npm lays it out; the program itself is never run."""
    package = directory / "lib" / "node_modules" / name
    (package / "bin").mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": name, "version": version}))
    (package / "bin" / name).write_text("#!/bin/sh\ntouch /dev/null/must-not-run\n")
    (package / "bin" / name).chmod(0o755)
    (directory / "bin").mkdir(exist_ok=True)
    (directory / "bin" / name).symlink_to(package / "bin" / name)
    return str(directory / "bin")


def test_an_installed_agent_newer_than_any_golden_is_a_warning(box: Box, tmp_path: Path) -> None:
    path = install(tmp_path, "codex", "99.1.0")
    level, says = found(box, PATH=path, TMUX_TMPDIR="/nowhere")["codex"]
    assert level == "warning"
    assert says.startswith("99.1.0 is newer than any tested")


def test_a_tested_one_is_in_order(box: Box, tmp_path: Path) -> None:
    path = install(tmp_path, "codex", "0.166.0")
    assert found(box, PATH=path, TMUX_TMPDIR="/nowhere")["codex"][0] == "ok"


def test_a_bad_file_of_the_users_is_wrong_and_fails(box: Box, tmp_path: Path) -> None:
    own = tmp_path / "midwatch" / "agents" / "codex.toml"
    own.parent.mkdir(parents=True)
    own.write_text("agent = ")
    done = box("doctor", XDG_CONFIG_HOME=str(tmp_path), TMUX_TMPDIR="/nowhere")
    assert done.code == 1
    assert f"{own}:1: " in done.out


def test_a_settings_file_that_is_wrong_is_named_with_its_line(box: Box) -> None:
    (box.cwd / "midwatch.toml").write_text('[policy]\nstael = "10m"\n')
    done = box("doctor", PATH="/nowhere")
    assert done.code == 1
    assert f"{box.cwd}/midwatch.toml:2: " in done.out


def test_a_settings_file_that_is_not_trusted_is_said(box: Box) -> None:
    (box.cwd / "midwatch.toml").write_text('[[check]]\nrun = "true"\n')
    level, says = found(box, PATH="/nowhere")["settings"]
    assert level == "note"
    assert "is not trusted" in says


def test_what_cannot_be_observed_is_said_with_the_way_to_mend_it(box: Box) -> None:
    """In a user namespace of its own, whose limit of file watchers is none."""
    nothing = 'echo 0 > /proc/sys/user/max_inotify_instances; exec "$@"'
    box.program = ["unshare", "-Ur", "sh", "-c", nothing, "sh", *box.program]
    limits = {each["about"]: each for each in map(json.loads, box("doctor", "--json").out.splitlines())}
    assert limits["file events"]["level"] == "warning"
    assert "looked at every 2 s" in limits["file events"]["says"]
    assert "max_user_instances" in limits["file events"]["mend"]


def test_everything_that_can_be_missing_has_a_line_and_what_to_do(box: Box, tmp_path: Path) -> None:
    path = f"{install(tmp_path, 'codex', '0.166.0')}:/usr/bin:/bin"
    lines = list(map(json.loads, box("doctor", "--json", PATH=path, TMUX_TMPDIR=str(tmp_path)).out.splitlines()))
    about = {each["about"]: each for each in lines}
    assert list(about) == [
        "python", "midwatch", "state directory", "settings", "notices", "tmux", "codex", "agents", "hooks"
    ]  # fmt: skip
    assert "`midwatch init`" in about["settings"]["mend"]
    assert "`midwatch init --notify" in about["notices"]["mend"]
    assert "0.166.0, tested" in about["codex"]["says"]
    assert about["agents"]["says"] == "not in PATH: agy, claude, gemini, opencode, qwen"
    assert (about["hooks"]["says"], about["hooks"]["mend"][:22]) == ("not registered: codex", "`midwatch hooks add`; ")
    assert box("hooks", "add", PATH=path).code == 0
    assert found(box, PATH=path)["hooks"] == ("ok", "registered: codex")


def test_a_settings_file_of_comments_needs_no_trust(box: Box) -> None:
    (box.cwd / "midwatch.toml").write_text("# [notify]\n[run]\nretries = 1\n")
    assert found(box, PATH="/nowhere")["settings"] == ("ok", f"{box.cwd}/midwatch.toml")
