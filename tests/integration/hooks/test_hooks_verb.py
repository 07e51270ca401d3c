"""`midwatch hooks`: entries in the settings files of agents, and nothing else in them changed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Box

KNOWN = ("claude", "codex", "gemini", "opencode")
THEIRS = '{\n    "model": "opus",\n    "env": {\n        "A": "1"\n    }\n}\n'


def states(box: Box) -> dict[str, str]:
    return {each["agent"]: each["state"] for each in map(json.loads, box("hooks", "--json").out.splitlines())}


def settings(box: Box) -> Path:
    path = Path(box.env["HOME"]) / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    return path


def commands(path: Path) -> list[str]:
    found: dict[str, Any] = json.loads(path.read_text())["hooks"]
    return [hook["command"] for entries in found.values() for entry in entries for hook in entry["hooks"]]


def test_each_agent_reports_and_stops_again(box: Box) -> None:
    assert states(box) == dict.fromkeys(KNOWN, "absent")
    assert box("hooks", "add", *KNOWN).code == 0
    assert states(box) == dict.fromkeys(KNOWN, "registered")
    assert (Path(box.env["HOME"]) / ".local/state/midwatch/hooks").is_dir(), "the script makes no directory"
    assert box("hooks", "remove").code == 0
    assert states(box) == dict.fromkeys(KNOWN, "absent")
    left = [path for path in Path(box.env["HOME"]).rglob("*") if path.is_file()]
    assert left == [], "files that held nothing else are gone"


def test_the_registered_command_writes_into_the_spool(box: Box) -> None:
    box("hooks", "add", "claude")
    (command,) = {*commands(settings(box))}
    box.program = ["sh", "-c", command]
    payload = json.dumps({"hook_event_name": "Stop", "session_id": "s"})
    box(stdin=payload, TMUX="/tmp/sock,1,0", TMUX_PANE="%3")
    (spool,) = (Path(box.env["HOME"]) / ".local/state/midwatch/hooks").glob("claude*%3.events")
    assert payload in spool.read_text()


def test_other_settings_stay_and_the_old_file_is_kept_beside_it(box: Box) -> None:
    path = settings(box)
    path.write_text(THEIRS)
    path.chmod(0o640)
    assert box("hooks", "add", "claude").code == 0
    assert json.loads(path.read_text())["model"] == "opus"
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.with_name("settings.json.midwatch.bak").read_text() == THEIRS
    assert box("hooks", "remove", "claude").code == 0
    assert path.read_text() == THEIRS


def test_a_link_to_the_file_stays_a_link(box: Box, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}\n")
    settings(box).symlink_to(real)
    assert box("hooks", "add", "claude").code == 0
    assert settings(box).is_symlink()
    assert commands(real)


@pytest.mark.parametrize("text", ['{"a": 1} // why\n', '{"hooks": 3}\n', "\udcff"])
def test_a_file_that_cannot_be_written_again_is_left_as_it_is(box: Box, text: str) -> None:
    path = settings(box)
    path.write_bytes(os.fsencode(text))
    done = box("hooks", "add", "claude", "codex")
    assert done.code == 1
    assert f"{path} was not changed" in done.err
    assert path.read_bytes() == os.fsencode(text)
    assert states(box)["codex"] == "registered", "the others are done all the same"
    assert box("hooks").code == 1


def test_a_plugin_of_theirs_under_our_name_is_left_as_it_is(box: Box) -> None:
    path = Path(box.env["HOME"]) / ".config/opencode/plugins/midwatch.js"
    path.parent.mkdir(parents=True)
    path.write_text("export const Mine = 1\n")
    for word in ("add", "remove"):
        done = box("hooks", word, "opencode")
        assert (done.code, path.read_text()) == (1, "export const Mine = 1\n")
        assert "is not Midwatch's plugin" in done.err


def test_the_entry_of_another_installation_is_outdated_until_it_is_added_again(box: Box) -> None:
    box("hooks", "add", "claude")
    path = settings(box)
    path.write_text(path.read_text().replace("/agents/hooks/hook.sh", "/old/agents/hooks/hook.sh"))
    assert states(box)["claude"] == "outdated"
    box("hooks", "add", "claude")
    assert states(box)["claude"] == "registered"
    assert not any("/old/" in command for command in commands(path))


def test_without_a_name_only_installed_agents_are_changed(box: Box) -> None:
    done = box("hooks", "add", PATH="/nowhere")
    assert done.code == 12
    assert "none of claude, codex, gemini, opencode is installed" in done.err
    assert states(box) == dict.fromkeys(KNOWN, "absent")


def test_what_hooks_does_not_know_is_a_usage_error(box: Box) -> None:
    assert box("hooks", "install").code == 2
    assert "no hooks of 'vim'" in box("hooks", "add", "vim").err
