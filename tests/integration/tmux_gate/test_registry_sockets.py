"""A registry in a repository names a tmux server: it is not asked because its file says so."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests import users
from tests.conftest import Box, tool
from tests.integration.tmux_gate.conftest import NOTHING, Attacker, Victim

UNKNOWN = 12
ALIAS = "set -s command-alias[100] 'list-panes=set-buffer -b asked yes ; lsp'"


def row(socket: Path | str) -> str:
    about = "name: lab, status: running, agent: claude, claude_session_id_own: 0d1e7a2c-0000-4000-8000-000000000000"
    return f"sessions:\n  - {{{about}, tmux_socket: {socket}}}\n"


@pytest.mark.parametrize("words", [("--dry-run",), ("--once",), ("--once", "--json")], ids=" ".join)
def test_a_foreign_server_is_not_asked(victim: Victim, attacker: Attacker, place: Path, words: tuple[str, ...]) -> None:
    socket = attacker.listen(place / "tmp" / "open", "s")
    path = victim.write("midwatch-sessions.yaml", row(socket))
    before = path.read_text()
    done = victim("reconcile", *words)
    assert (attacker.loot, done.code) == (NOTHING, UNKNOWN), done
    assert f"tmux server {socket} is refused: {path} names it and is not trusted" in done.out + done.err
    assert path.read_text() == before


def test_a_foreign_server_is_not_asked_though_the_file_is_trusted(
    victim: Victim, attacker: Attacker, place: Path
) -> None:
    socket = attacker.listen(place / "tmp" / "open", "s")
    path = victim.write("midwatch-sessions.yaml", row(socket))
    assert victim("trust", str(path), "--yes").code == 0
    done = victim("reconcile", "--dry-run")
    assert (attacker.loot, done.code) == (NOTHING, UNKNOWN), done
    assert f"{socket.parent} belongs to another user" in done.err


class Repository:
    """A workspace whose registry names a server of our own, outside of tmux's directory."""

    def __init__(self, box: Box, place: Path) -> None:
        self.box, self.socket = box, place / "s"
        (place / "conf").write_text(f"{ALIAS}\n")
        place.chmod(0o700)
        (place / "usual").mkdir()
        box.env |= {"TMUX_TMPDIR": str(place / "usual"), "SHELL": "/bin/sh", "XDG_STATE_HOME": str(box.cwd / "state")}
        self.path = box.cwd / "midwatch-sessions.yaml"
        self.tmux("-f", str(place / "conf"), "new-session", "-d", "-s", "lab", "cat")

    def tmux(self, *words: str) -> str:
        env = self.box.env | {"TERM": "xterm"}
        command = ["tmux", "-S", str(self.socket), *words]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False).stdout

    @property
    def asked(self) -> bool:
        return "asked" in self.tmux("list-buffers", "-F", "#{buffer_name}")

    def reconcile(self, *words: str) -> tuple[int, list[str]]:
        done = self.box("reconcile", "--dry-run", "--json", *words)
        return done.code, done.json["troubles"]


@pytest.fixture
def repository(box: Box) -> Iterator[Repository]:
    tool("tmux")
    with users.shared_place() as place:
        found = Repository(box, place)
        yield found
        found.tmux("kill-server")


def test_what_an_untrusted_file_names_is_unknown_and_never_gone(repository: Repository) -> None:
    """Even a server of ours: the file decides whose panes are looked at."""
    repository.path.write_text(row(repository.socket))
    code, (trouble,) = repository.reconcile()
    assert (code, repository.asked) == (UNKNOWN, False)
    assert f"tmux server {repository.socket} is refused: {repository.path} names it and is not trusted" in trouble
    assert f"`midwatch trust {repository.path}`" in trouble
    for words in (["session", "status"], ["session", "resume", "lab"], ["doctor"]):
        done = repository.box(*words)
        assert "is refused" in done.out + done.err, (words, done)
        assert not repository.asked, words


def test_a_trusted_file_may_name_a_server_of_ours(repository: Repository) -> None:
    repository.path.write_text(row(repository.socket))
    shown = repository.box("trust", str(repository.path), "--yes")
    assert (shown.code, str(repository.socket) in shown.out) == (0, True), shown
    assert repository.reconcile()[1] == []
    assert repository.asked


def test_trust_is_for_the_sockets_and_not_for_the_rows(repository: Repository) -> None:
    repository.path.write_text(row(repository.socket))
    assert repository.box("trust", str(repository.path), "--yes").code == 0
    with repository.path.open("a") as file:
        file.write("  - {name: other, status: stopped}\n")
    assert repository.reconcile()[1] == []
    with repository.path.open("a") as file:
        file.write(f"  - {{name: third, status: running, tmux_socket: {repository.socket}2}}\n")
    code, troubles = repository.reconcile()
    assert code == UNKNOWN
    assert any("names other sockets than when you trusted it" in trouble for trouble in troubles)
    (listed,) = repository.box("trust", "--list", "--json").out.splitlines()
    assert json.loads(listed)["state"] == "changed"


def test_the_socket_that_the_user_names_needs_no_trust(repository: Repository) -> None:
    repository.path.write_text(row(repository.socket))
    assert repository.reconcile("--socket", str(repository.socket))[1] == []
    assert repository.asked
    inside = {"TMUX": f"{repository.socket},1,0"}
    assert repository.box("reconcile", "--dry-run", "--json", **inside).json["troubles"] == []


def test_what_we_write_ourselves_is_trusted(repository: Repository) -> None:
    """`reconcile --socket` registers what it finds there, and a later one without it goes on."""
    repository.path.write_text("sessions: []\n")
    agents = repository.box.cwd / "bin"
    agents.mkdir()
    os.symlink(tool("sleep"), agents / "claude")
    here, agent = str(repository.box.cwd), f"{agents}/claude 900"
    repository.tmux("new-session", "-d", "-s", "lab-creator-claude", "-c", here, agent)
    done = repository.box("reconcile", "--once", "--socket", str(repository.socket))
    assert done.code == 0, done
    rows = yaml.safe_load(repository.path.read_text())["sessions"]
    assert [row["tmux_socket"] for row in rows] == [str(repository.socket)]
    assert repository.reconcile()[1] == []


def test_what_we_write_makes_nothing_else_trusted(repository: Repository) -> None:
    repository.path.write_text(row(f"{repository.socket}2"))
    repository.tmux("new-session", "-d", "-s", "lab-creator-claude", "-c", str(repository.box.cwd), "sleep 900")
    repository.box("reconcile", "--once", "--socket", str(repository.socket))
    assert any(f"{repository.socket}2 is refused" in trouble for trouble in repository.reconcile()[1])


def test_a_file_that_others_may_write_cannot_be_trusted(repository: Repository) -> None:
    repository.path.write_text(row(repository.socket))
    repository.path.chmod(0o666)
    assert repository.box("trust", str(repository.path), "--yes").code == UNKNOWN
    _, (trouble,) = repository.reconcile()
    assert "others may write to" in trouble
