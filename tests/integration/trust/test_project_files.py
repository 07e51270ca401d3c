"""Everything that a repository can bring: the table is whole, the docs show it, and nothing acts without trust."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.config.codec import mqtt_table, notify_table, settings_file, swarm_table
from midwatch.config.project_files import FILES, SETTINGS, YES, ProjectInput
from tests.conftest import Box

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "trust.md").read_text()
ACTING = {each.name: each for each in SETTINGS if each.acts == YES}
ELSEWHERE = {
    "watchdog.prompt": "watchdog/test_watchdog_controller.py::test_the_projects_own_words",
    "watchdog.ensure_quality": "watchdog/test_watchdog_controller.py::"
    "test_companions_are_made_only_if_that_was_asked_for",
    "mqtt.accept_unsigned": "reconcile/test_reconcile_subscribe.py::test_a_project_that_is_not_trusted_accepts_nothing",
    "handoff.command": "handoff/test_send_task.py::"
    "test_a_command_of_the_projects_own_is_told_to_nobody_before_it_is_trusted",
    "send.via": "send/test_send_via_ntm.py::test_a_setting_of_the_project_chooses_it_once_it_is_trusted",
}
"""Keys that need a pane or a broker: their tests, by name."""
BROKER = 'url = "mqtt://127.0.0.1:{port}"\nusername = "ann"\n'
CASES = {
    "notify.command": ('[notify]\ncommand = "touch ran"', ("notify", "--test", "x")),
    "notify.urls": ('[notify]\nurls = ["json://127.0.0.1:{port}/"]', ("notify", "--test", "x")),
    "parse.command": ('[parse]\ncommand = "touch ran"', ("parse", "log", "--step", "dev")),
    "mqtt.url": (f"[mqtt]\n{BROKER}", ("notify", "--test", "x")),
    "mqtt.username": (f"[mqtt]\n{BROKER}", ("notify", "--test", "x")),
    "mqtt.password_env": (f'[mqtt]\n{BROKER}password_env = "HOME"', ("notify", "--test", "x")),
    "mqtt.password_file": (f'[mqtt]\n{BROKER}password_file = "word"', ("notify", "--test", "x")),
    "mqtt.password_command": (f'[mqtt]\n{BROKER}password_command = "touch ran; echo x"', ("notify", "--test", "x")),
    "mqtt.ca": (f'[mqtt]\n{BROKER.replace("mqtt:", "mqtts:")}ca = "word"', ("notify", "--test", "x")),
    "mqtt.cert": (f'[mqtt]\n{BROKER.replace("mqtt:", "mqtts:")}cert = "word"', ("notify", "--test", "x")),
    "mqtt.key": (f'[mqtt]\n{BROKER.replace("mqtt:", "mqtts:")}cert = "word"\nkey = "word"', ("notify", "--test", "x")),
    "mqtt.prefix": (f'[mqtt]\n{BROKER}prefix = "p"', ("notify", "--test", "x")),
    "mqtt.client_id": (f'[mqtt]\n{BROKER}client_id = "c"', ("notify", "--test", "x")),
    "check.module": ('[[check]]\nmodule = "app"\nvenv = "env"', ("preflight",)),
    "check.package": ('[[check]]\npackage = "app"\nvenv = "env"', ("preflight",)),
    "check.venv": ('[[check]]\nvenv = "env"', ("preflight",)),
    "check.http": ('[[check]]\nhttp = "http://127.0.0.1:{port}/"\ntimeout = 2', ("preflight",)),
    "check.tcp": ('[[check]]\ntcp = "127.0.0.1:{port}"\ntimeout = 2', ("preflight",)),
    "check.run": ('[[check]]\nrun = "touch ran"', ("preflight",)),
    "check.fix": ('[[check]]\ncommand = "no-such-program"\nfix = "touch ran"', ("preflight", "--fix")),
}
ENDS_EARLY = ("mqtt.ca", "mqtt.cert", "mqtt.key")
"""Those whose file is no certificate: with trust it is read, and that is told."""


class Listening:
    """A port of this machine that counts who comes."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.came = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            self.came += 1
            peer.close()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def listening() -> Iterator[Listening]:
    found = Listening()
    yield found
    found.close()


def prepared(box: Box, text: str, port: int) -> Path:
    (box.cwd / "log").write_text("done\n")
    (box.cwd / "word").write_text("x\n")
    (box.cwd / "word").chmod(0o600)
    python = box.cwd / "env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\ntouch '{box.cwd}/ran'\n")
    python.chmod(0o755)
    (box.cwd / "env" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.0\n")
    (box.cwd / "env" / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    path = box.cwd / "midwatch.toml"
    path.write_text(text.replace("{port}", str(port)) + "\n")
    path.chmod(0o644)
    return path


def has_acted(box: Box, listening: Listening) -> bool:
    return (box.cwd / "ran").exists() or listening.came > 0


def test_every_key_of_a_settings_file_is_in_the_table() -> None:
    own = {name: keys for name, keys in vars(settings_file).items() if name.startswith("KEYS_OF_")}
    tables = {name.removeprefix("KEYS_OF_").lower(): keys for name, keys in own.items()}
    tables |= {**swarm_table.KEYS, "mqtt": mqtt_table.KEYS, "notify": notify_table.KEYS}
    assert {*tables} == {*settings_file.KEYS}
    keys = [f"{table}.{key}" for table, keys in tables.items() for key in keys]
    assert sorted(each.name for each in SETTINGS) == sorted(keys)


def row(each: ProjectInput, name: str) -> str:
    return f"| {name} | {each.use} | {each.acts or 'no'} | {each.trust or 'no'} |"


def test_the_page_shows_the_table() -> None:
    rows = [line for line in PAGE.splitlines() if re.match(r"\| (?!key|file|-)", line)]
    assert rows == [*(row(each, f"`{each.name}`") for each in SETTINGS), *(row(each, each.name) for each in FILES)]


def test_what_acts_needs_trust_and_has_a_case_here() -> None:
    assert [each.name for each in SETTINGS if each.acts == YES and each.trust != YES] == []
    assert {*CASES, *ELSEWHERE} == {*ACTING}
    for place in ELSEWHERE.values():
        file, _, name = place.partition("::")
        assert f"def {name}(" in (ROOT / "tests" / "integration" / file).read_text(), place


@pytest.mark.parametrize("key", CASES)
def test_nothing_acts_before_the_file_is_trusted(box: Box, listening: Listening, key: str) -> None:
    text, call = CASES[key]
    path = prepared(box, text, listening.port)
    done = box(*call)
    assert f"{path} is not trusted: read it, then `midwatch trust`" in done.out + done.err, done
    assert done.code != 0
    assert not has_acted(box, listening)
    shown = box("trust", "--yes")
    assert shown.code == 0, shown
    assert "line " in shown.out
    done = box(*call)
    assert "is not trusted" not in done.out + done.err
    assert has_acted(box, listening) or key in ENDS_EARLY


@pytest.mark.parametrize("kind", ["http", "tcp"])
def test_run_does_not_connect_to_what_a_cloned_file_names(box: Box, listening: Listening, kind: str) -> None:
    prepared(box, f"[run]\npreflight = true\n{CASES[f'check.{kind}'][0]}", listening.port)
    done = box("run", "--", "touch", "started")
    assert done.code == 125
    assert "could not be run" in done.err
    assert "is not trusted" in done.err
    assert not has_acted(box, listening)
    assert not (box.cwd / "started").exists()
    table = box("preflight").out
    assert re.search(rf"^NOT RUN {kind} .*not run: .* is not trusted", table, re.MULTILINE), table


def test_a_tracker_outside_of_the_project_needs_trust(box: Box) -> None:
    (box.cwd / "project").mkdir()
    (box.cwd / "project" / "midwatch.toml").write_text('[tracker]\npath = "../elsewhere.jsonl"\n')
    (box.cwd / "project" / "midwatch.toml").chmod(0o644)
    home, box.cwd = box.cwd, box.cwd / "project"
    done = box("task", "add", "x")
    assert done.code == 12
    assert "its [tracker] path leads out of the project" in done.err
    assert not (home / "elsewhere.jsonl").exists()
    assert box("trust", "--yes").code == 0
    assert box("task", "add", "x").code == 0
    assert (home / "elsewhere.jsonl").exists()


@pytest.mark.parametrize("settings", ["", '[tracker]\npath = "midwatch-tasks.jsonl"\n', '[tracker]\npath = "out/rc"\n'])
def test_a_link_to_a_file_outside_is_no_tracker_of_the_project(box: Box, settings: str) -> None:
    """A repository can bring links, and a title is a line of its own in what they lead to."""
    home, project = box.cwd, box.cwd / "project"
    project.mkdir()
    (project / "midwatch.toml").write_text(settings)
    (project / "midwatch-tasks.jsonl").symlink_to(home / "rc")
    (project / "out").symlink_to(home)
    box.cwd = project
    for words in (("add", "$(touch ran)"), ("list",)):
        done = box("task", *words)
        assert done.code == 12, done
        assert "leads out of the project" in done.err
    assert not (home / "rc").exists()
    assert box("trust", "--yes").code == 0
    assert box("task", "add", "x").code == (0 if settings else 12)


@pytest.mark.parametrize("link", [".beads", "_bmad-output"])
def test_nor_are_links_to_trackers_of_other_projects(box: Box, link: str) -> None:
    home, project = box.cwd, box.cwd / "project"
    project.mkdir()
    (home / "other").mkdir()
    (home / "other" / "sprint-status.yaml").write_text("1-1-a: done\n")
    (home / "other" / "issues.jsonl").write_text('{"id":"b-1","title":"secret","status":"open"}\n')
    (project / "midwatch.toml").touch()
    (project / link).symlink_to(home / "other")
    box.cwd = project
    done = box("task", "list")
    assert (done.code, done.out) == (12, "")
    assert f"{link}" in done.err
    assert "leads out of the project" in done.err
