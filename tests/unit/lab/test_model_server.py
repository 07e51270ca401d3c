"""The server around the model: everything that is not a reply, and the program that starts it."""

from __future__ import annotations

import gzip
import http.client
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PATIENCE
from tests.lab.lab import REPOSITORY
from tests.lab.server import journal
from tests.lab.server.__main__ import key
from tests.lab.server.journal import Journal
from tests.unit.lab.client import Client
from tests.unit.lab.served import Watched


def call(port: int, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("method", "path", "status", "holds"),
    [
        ("HEAD", "/", 200, b""),
        ("GET", "/v1/models?limit=1", 200, b"fake-model"),
        ("POST", "/v1/messages/count_tokens?beta=true", 200, b"input_tokens"),
        ("POST", "/v1beta/models/x:countTokens", 200, b"totalTokens"),
        ("GET", "/v1/organizations", 404, b"not_found_error"),
        ("POST", "/v1/telemetry", 404, b"not_found_error"),
    ],
)
def test_other_calls_are_answered_and_noted(
    server: Watched, method: str, path: str, status: int, holds: bytes
) -> None:  # fmt: skip
    session = f"{method}{status}{len(path)}"
    found, body = call(server.server_port, method, path, **{"x-api-key": key(session)})
    assert found == status
    assert holds in body
    (entry,) = server.entries(session)
    assert (entry["event"], entry["method"], entry["path"], entry["status"]) == ("other", method, path, status)


def test_the_journal_can_be_asked_for(client: Client) -> None:
    answer = client.ask("[[text for the log]]")
    status, body = call(client.server.server_port, "GET", "/__log")
    assert status == 200
    told = [json.loads(line) for line in body.decode().split("\n")[:-1]]
    assert [entry for entry in told if entry["session"] == client.session] == answer.journal


@pytest.mark.parametrize("stream", [False], indirect=True, ids=["whole"])
@pytest.mark.parametrize("coding", ["gzip", "chunked", "both"])
def test_requests_come_compressed_or_in_chunks(client: Client, coding: str) -> None:
    body = client.speaker.request("[[text well packed]]", results=0, tools=client.speaker.tools, stream=False)
    data: Any = json.dumps(body).encode()
    header, prefix = client.speaker.header
    headers = {header: prefix + key(client.session)}
    if coding != "chunked":
        data = gzip.compress(data)
        headers["content-encoding"] = "gzip"
    if coding != "gzip":
        headers["transfer-encoding"] = "chunked"
        middle = len(data) // 2
        data = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (data[:middle], data[middle:], b""))
    status, answer = call(client.server.server_port, "POST", client.speaker.path(stream=False), data, **headers)
    assert status == 200
    assert client.speaker.see(json.loads(answer)).text == "well packed"


def test_bodies_are_kept(client: Client, dialect: str) -> None:
    answer = client.ask("[[text remember]]")
    kept = client.server.bodies
    assert kept is not None
    number = answer.note("began")["seq"]
    body = json.loads((kept / f"{number:04}-{client.session}-{dialect}.json").read_text())
    assert body == client.speaker.request(
        "[[text remember]]", results=0, tools=client.speaker.tools, stream=client.stream
    )


def test_a_stranger_has_no_session(client: Client) -> None:
    stranger = Client(client.server, client.speaker, "", stream=client.stream)
    stranger.speaker.header = ("x-unknown", "")
    answer = stranger.ask("hello")
    assert {entry["session"] for entry in answer.journal} == {""}


def test_a_journal_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    """With a line in the making at its end, and words that hold what only Python takes for the end of a line."""
    path = tmp_path / "journal.jsonl"
    assert journal.read(path) == []
    written = Journal(path)
    written.note(1, "s", "began", prompt="a\u2028b\u0085c\nd")
    written.note(1, "s", "ended")
    with path.open("ab") as file:
        file.write('{"t": "é'.encode()[:-1])
    assert [(entry["event"], entry.get("prompt")) for entry in journal.read(path)] == [
        ("began", "a\u2028b\u0085c\nd"), ("ended", None),
    ]  # fmt: skip
    written.close()


def test_the_program_serves_until_it_is_ended(tmp_path: Path) -> None:
    (tmp_path / "hello").write_text("from a file")
    command = [sys.executable, "-m", "tests.lab.server", "--port", "0"]
    places = ["--journal", str(tmp_path / "journal.jsonl"), "--replies", str(tmp_path)]
    with subprocess.Popen([*command, *places], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as program:
        try:
            assert program.stdout is not None
            port = int(program.stdout.readline().removeprefix("listening on "))
            body = {"model": "m", "messages": [{"role": "user", "content": "[[say hello]]"}], "tools": [{"name": "x"}]}
            status, answer = call(port, "POST", "/v1/messages", json.dumps(body), **{"x-api-key": key("me")})
        finally:
            program.terminate()
    assert (status, json.loads(answer)["content"]) == (200, [{"type": "text", "text": "from a file"}])
    entries = journal.read(tmp_path / "journal.jsonl")
    assert {entry["session"] for entry in entries} == {"me"}
    assert [entry["event"] for entry in entries][:3] == ["began", "text", "first-byte"]
