"""What processes listen on, as the kernel's tables tell."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from pathlib import Path

import pytest

from midwatch.system.listening_sockets import ListeningSockets, format_address


@pytest.mark.parametrize(
    ("address", "port", "shown"),
    [
        ("127.0.0.1", 8080, "127.0.0.1:8080"), ("0.0.0.0", 80, "0.0.0.0:80"), ("::", 443, "[::]:443"),
        ("::1", 1, "[::1]:1"), ("2001:db8::5", 65535, "[2001:db8::5]:65535"),
    ],
)  # fmt: skip
def test_addresses_read_as_people_write_them(address: str, port: int, shown: str) -> None:
    packed = ipaddress.ip_address(address).packed
    words = [packed[at : at + 4] for at in range(0, len(packed), 4)]
    text = "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
    assert format_address(f"{text}:{port:04X}") == shown


def test_only_what_listens_is_told(tmp_path: Path) -> None:
    path = str(tmp_path / "a socket with blanks")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(path)
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            before = ListeningSockets().of(os.getpid())
            unix.listen()
            after = ListeningSockets().of(os.getpid())
            assert f"127.0.0.1:{client.getsockname()[1]}" not in after
    assert f"127.0.0.1:{port}" in before
    assert set(after) - set(before) == {path}


def test_a_process_that_is_not_there_listens_on_nothing() -> None:
    assert ListeningSockets().of(1 << 22) == ()
