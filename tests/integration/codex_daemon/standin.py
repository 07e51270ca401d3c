"""A daemon that says what the real one said (`exchange.jsonl`, Codex 0.166.0), over a real WebSocket."""

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

EXCHANGE = [json.loads(line) for line in (Path(__file__).parent / "exchange.jsonl").read_text().splitlines()]
STATES = list(dict.fromkeys(line["state"] for line in EXCHANGE))
MAIN = "01a1e21b-2798-7aa2-9d91-a7e14982003e"
"""The conversation on the screen; all others are those that find titles."""
CWD = "/home/dev/work/proj"


class Daemon:
    """Listens at a path. ``state`` says which moment of the recording it is."""

    def __init__(self, path: Path) -> None:
        self.state = "fresh"
        self.heard: list[dict[str, Any]] = []
        self.told: set[str] = set()
        self.extra: dict[str, dict[str, Any]] = {}
        """Further conversations, as `thread/read` tells them."""
        self.silent = False
        self.wrapping: Callable[[bytes], bytes] = frame
        """How a message is put on the wire."""
        self.connections: list[socket.socket] = []
        self.came = 0
        self.pongs: list[bytes] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.drop()
        for thread in self._threads:
            thread.join()

    def drop(self) -> None:
        """Break every connection."""
        for each in self.connections:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self.connections.clear()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.came += 1
            self.connections.append(connection)
            self._threads.append(threading.Thread(target=self._serve, args=(connection,)))
            self._threads[-1].start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError):
            reader = Reader(connection, self.pongs)
            head = reader.until(b"\r\n\r\n")
            assert b"Upgrade: websocket" in head
            connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n")
            while True:
                message = json.loads(reader.message())
                self.heard.append(message)
                if "id" in message and not self.silent:
                    for answer in self._answers(message):
                        connection.sendall(self.wrapping(json.dumps(answer).encode()))

    def _answers(self, call: dict[str, Any]) -> list[dict[str, Any]]:
        news = [] if self.state in self.told else [line for line in self._received() if "method" in line]
        if call["method"] != "initialize":
            self.told.add(self.state)
        return (
            [*news, self._reply(call) | {"id": call["id"]}] if call["method"] != "initialize" else [self._reply(call)]
        )

    def _received(self) -> list[dict[str, Any]]:
        return [line["received"] for line in EXCHANGE if line["state"] == self.state and "received" in line]

    def _reply(self, call: dict[str, Any]) -> dict[str, Any]:
        """What was answered to the last call like this, at this moment of the recording or before."""
        if call["method"] == "initialize":
            return {"id": call["id"], "result": {"userAgent": "codex-tui/0.166.0"}}
        wanted = call["params"].get("threadId")
        if wanted in self.extra:
            return {"result": {"thread": self.extra[wanted]}}
        past = STATES[: STATES.index(self.state) + 1]
        calls = {line["sent"].get("id"): line["sent"] for line in EXCHANGE if "sent" in line and line["state"] in past}
        same = [
            key
            for key, sent in calls.items()
            if (sent["method"], sent.get("params")) == (call["method"], call["params"])
        ]
        found = [line["received"] for line in EXCHANGE if line.get("received", {}).get("id") in same]
        if not same or not found:
            return {"error": {"code": -32600, "message": f"thread not loaded: {wanted}"}}
        answer = json.loads(json.dumps(found[-1]))
        if call["method"] == "thread/loaded/list":
            answer["result"]["data"] += self.extra
        return dict(answer)


def frame(text: bytes, kind: int = 0x81) -> bytes:
    size = len(text)
    short = (
        bytes([size])
        if size < 126
        else struct.pack(">BH", 126, size)
        if size < 1 << 16
        else struct.pack(">BQ", 127, size)
    )
    return bytes([kind]) + short + text


class Reader:
    """The frames of a client, which must be masked."""

    def __init__(self, connection: socket.socket, pongs: list[bytes]) -> None:
        self._connection = connection
        self._pongs = pongs
        self._data = b""

    def until(self, mark: bytes) -> bytes:
        while mark not in self._data:
            self._more()
        found, _, self._data = self._data.partition(mark)
        return found

    def message(self) -> bytes:
        while True:
            first, second = self._take(2)
            assert second & 0x80, "what a client sends is masked"
            size = second & 0x7F
            size = int.from_bytes(self._take(2), "big") if size == 126 else size
            mask, data = self._take(4), self._take(size)
            text = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
            if first == 0x81:
                return text
            assert first == 0x8A
            self._pongs.append(text)

    def _take(self, size: int) -> bytes:
        while len(self._data) < size:
            self._more()
        found, self._data = self._data[:size], self._data[size:]
        return found

    def _more(self) -> None:
        data = self._connection.recv(1 << 16)
        if not data:
            raise EOFError
        self._data += data
