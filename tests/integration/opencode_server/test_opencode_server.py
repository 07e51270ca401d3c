"""What OpenCode's own server says. The answers are those of OpenCode 1.18.33."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.agents.opencode import server as opencode_server_module
from midwatch.agents.opencode.server import OpenCodeServer, find_sockets
from midwatch.core.pane_model import RunningAgent, SourceReport
from midwatch.system import procfs
from tests.conftest import PATIENCE

LIMIT = 0.5
STANDIN = Path(__file__).parent / "standin.py"
ASKED = {
    "id": "per_1e2133437001mfIF8DPXn4OMS1", "sessionID": "ses_1", "permission": "bash", "patterns": ["touch x"],
    "metadata": {"command": "touch x"}, "always": ["touch *"], "tool": {"messageID": "msg_1", "callID": "call_1"},
}  # fmt: skip
RETRY = {"type": "retry", "attempt": 1, "message": "fake error 429", "next": 1794794341491}


class Server:
    def __init__(self, home: Path) -> None:
        self.file = home / "answers"
        self.says()
        self.process = subprocess.Popen(
            [sys.executable, str(STANDIN), str(self.file)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def says(self, status: Any = None, permission: Any = (), question: Any = (), sessions: Any = ()) -> None:
        answers = {"/session/status": status or {}, "/permission": permission, "/question": question}
        self.file.write_text(json.dumps(answers | {"/session": sessions}))

    def observe(self, conversation: str = "") -> SourceReport:
        running = RunningAgent("opencode", self.process.pid, 1, 0.0, "/pr oj", ("opencode", "--port", "0"), {})
        found = OpenCodeServer().read(running, conversation)
        assert found is not None
        assert found.source == "api"
        return found

    def asked(self) -> list[str]:
        return Path(f"{self.file}.asked").read_text().splitlines()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(opencode_server_module, "LIMIT", PATIENCE)  # a busy machine is no reason to fail
    found = Server(tmp_path)
    yield found
    found.process.kill()
    found.process.communicate()


def test_what_is_not_listed_is_idle(server: Server) -> None:
    assert server.observe().words == {"status": "idle", "conversation": "", "waiting": ""}
    assert server.observe().at is None


def test_busy(server: Server) -> None:
    server.says({"ses_1": {"type": "busy"}})
    assert server.observe().words == {"status": "busy", "conversation": "ses_1", "waiting": ""}


def test_a_question_stands_in_another_list(server: Server) -> None:
    server.says({"ses_1": {"type": "busy"}}, permission=[ASKED])
    assert server.observe().words["waiting"] == "permission"
    server.says({"ses_1": {"type": "busy"}}, question=[{"id": "que_1", "sessionID": "ses_1", "questions": []}])
    assert server.observe().words["waiting"] == "question"


def test_a_retry_says_when(server: Server) -> None:
    server.says({"ses_1": RETRY})
    words = server.observe().words
    assert (words["status"], words["retry_attempt"], words["message"]) == ("retry", "1", "fake error 429")
    assert words["retry_next"] == "1794794341.491"


def test_of_several_sessions_the_one_that_no_other_began_is_meant(server: Server) -> None:
    sessions = [{"id": "ses_2", "parentID": "ses_1"}, {"id": "ses_1"}]
    server.says({"ses_2": RETRY, "ses_1": {"type": "busy"}}, sessions=sessions)
    assert (server.observe().words["conversation"], server.observe().words["status"]) == ("ses_1", "busy")
    assert server.observe("ses_2").words["status"] == "retry"
    assert server.observe("ses_9").words["status"] == "idle"


def test_only_reading_and_only_of_this_directory(server: Server) -> None:
    server.observe()
    paths = ("/session/status", "/permission", "/question")
    assert server.asked() == [f"GET {path} directory=%2Fpr%20oj" for path in paths]


def test_the_port_is_seen_from_outside(server: Server) -> None:
    assert find_sockets(server.process.pid).port == server.port
    assert find_sockets(os.getpid()).port is None
    assert find_sockets(0).port is None


def test_a_port_is_seen_to_come_and_go_although_nothing_changed_for_long() -> None:
    found = None
    for _ in range(3):
        found = find_sockets(os.getpid(), found)
        assert found.port is None
    with socket.create_server(("127.0.0.1", 0)) as server:
        for _ in range(3):
            found = find_sockets(os.getpid(), found)
            assert found.port == server.getsockname()[1]
    assert find_sockets(os.getpid(), found).port is None


def test_the_machines_sockets_are_asked_for_only_until_we_are_sure(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    read = procfs.read_text

    def noted(path: str) -> str:
        asked.append(path)
        return read(path)

    monkeypatch.setattr(procfs, "read_text", noted)
    found = None
    for _ in range(5):
        found = find_sockets(server.process.pid, found)
        assert found.port == server.port
    assert len(asked) == 2


def test_no_server_no_report() -> None:
    assert OpenCodeServer().read(RunningAgent("opencode", os.getpid(), 1, 0.0, "/", ("opencode",), {})) is None


# Trouble ------------------------------------------------------------------------------------------------------------


def test_silence_costs_half_a_second(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    assert opencode_server_module.LIMIT == PATIENCE
    monkeypatch.setattr(opencode_server_module, "LIMIT", LIMIT)
    server.says(permission="silence")
    began = time.monotonic()
    assert server.observe() == SourceReport("api", None, {}, "OpenCode's server does not answer: timed out")
    assert LIMIT * 0.9 < time.monotonic() - began < LIMIT * 4


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (401, "OpenCode's server refuses to answer (401 Unauthorized)"),
        ("no JSON", "OpenCode's server says what we do not understand: JSONDecodeError"),
        ({}, "OpenCode's server says what we do not understand; is it of a later version?"),
        ("[" + " " * (5 << 20), "OpenCode's server says more than we can hear"),
    ],
    ids=["password", "text", "object", "huge"],
)
def test_what_is_not_understood_is_said(server: Server, answer: object, says: str) -> None:
    server.says(permission=answer)
    assert server.observe() == SourceReport("api", None, {}, says)


def test_a_server_in_another_network_is_not_asked(server: Server) -> None:
    enter = (
        ["unshare", "--net"]
        if os.getuid() == 0
        else ["unshare", "--user", "--map-current-user", "--keep-caps", "--net"]
    )
    command = [
        *enter,
        "sh",
        "-c",
        'ip link set lo up && exec "$@"',
        "sh",
        sys.executable,
        str(STANDIN),
        str(server.file),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as inner:
        assert inner.stdout is not None
        if not inner.stdout.readline():
            pytest.skip("no network namespace may be made here")
        server.process, outer = inner, server.process
        try:
            assert server.observe().trouble == "its server runs in another network, where it cannot be asked"
        finally:
            server.process = outer
            inner.kill()
    assert not Path(f"{server.file}.asked").exists()
