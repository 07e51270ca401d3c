"""What a tmux server learns of our environment: a client gives it everything that it has."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import users
from tests.conftest import Box, tool

SECRETS = {"ANTHROPIC_API_KEY": "sk-secret", "MIDWATCH_MQTT_PASSWORD": "hush", "MIDWATCH_MQTT_USERNAME": "me"}
ALIAS = "set -s command-alias[100] 'list-panes=new-session -A -d -s leak ; lsp'"
ALL = "set -g update-environment 'ANTHROPIC_API_KEY MIDWATCH_MQTT_PASSWORD PATH SSH_AUTH_SOCK HOME'"


@pytest.fixture
def own(box: Box) -> Iterator[Box]:
    tool("tmux")
    with users.shared_place() as place:
        box.env |= {"TMUX_TMPDIR": str(place), "SHELL": "/bin/sh", **SECRETS}
        yield box
        tmux(box, "kill-server")


def tmux(box: Box, *words: str) -> str:
    env = {name: value for name, value in box.env.items() if name not in SECRETS}
    done = subprocess.run(["tmux", *words], env=env, cwd=box.cwd, capture_output=True, text=True, check=False)
    return done.stdout


@pytest.mark.parametrize(
    "words",
    [("ls", "--panes"), ("why", "%0"), ("send", "%0", "x"), ("doctor",), ("_complete", "--", "why", "%")],
    ids=" ".join,
)
def test_who_only_reads_gives_nothing_away(own: Box, tmp_path: Path, words: tuple[str, ...]) -> None:
    """Also to a server of ours, which any program in it can ask."""
    (tmp_path / "conf").write_text(f"{ALIAS}\n{ALL}\n")
    tmux(own, "-f", str(tmp_path / "conf"), "new-session", "-d", "-s", "own", "cat")
    own(*words, SSH_AUTH_SOCK="/ours")
    told = tmux(own, "show-environment", "-t", "leak").splitlines()
    assert "-ANTHROPIC_API_KEY" in told, told
    assert {"-MIDWATCH_MQTT_PASSWORD", "-SSH_AUTH_SOCK", "-HOME"} <= set(told)
    assert f"PATH={os.environ['PATH']}" in told


def test_who_starts_a_session_gives_what_is_the_users_and_nothing_of_ours(own: Box) -> None:
    done = own("spawn", "x", "--agent", "program", "--", "cat")
    assert done.code == 0, done
    told = tmux(own, "show-environment", "-g")
    assert "ANTHROPIC_API_KEY=sk-secret" in told
    assert "MIDWATCH_" not in told
    own("stop", "x")


def test_a_session_on_a_server_that_runs_gets_what_tmux_updates(own: Box) -> None:
    tmux(own, "-f", os.devnull, "new-session", "-d", "-s", "own", "cat")
    assert own("spawn", "x", "--agent", "program", "--", "cat", SSH_AUTH_SOCK="/agent").code == 0
    assert "SSH_AUTH_SOCK=/agent" in tmux(own, "show-environment", "-t", "x")
    own("stop", "x")
