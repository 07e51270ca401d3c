"""What processes listen on: their descriptors, and the kernel's tables of sockets of their network namespace."""

from __future__ import annotations

import ipaddress
import os
import re
import sys

from midwatch.system import procfs

LISTENING = "0A"
"""State of a TCP socket, as /proc/net/tcp names it."""
ACCEPTS = 0x10000
"""Flag of a listening socket in /proc/net/unix."""
SOCKET = re.compile(r"socket:\[(\d+)\]")
WORD = 8
"""Hexadecimal digits of a 32-bit word, which the kernel prints in the byte order of the machine."""


class ListeningSockets:
    """The tables are read once for each network namespace."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, str]] = {}

    def of(self, pid: int) -> tuple[str, ...]:
        """Addresses (`127.0.0.1:80`, `[::]:80`) and paths that a process listens on; none where it cannot be read."""
        held = _held_sockets(pid)
        if not held:
            return ()
        try:
            place = os.readlink(f"/proc/{pid}/ns/net")
        except OSError:
            return ()
        if place not in self._tables:
            self._tables[place] = _read_tables(pid)
        table = self._tables[place]
        return tuple(sorted({table[inode] for inode in held if inode in table}))


def _held_sockets(pid: int) -> set[str]:
    found = set()
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                match = SOCKET.fullmatch(os.readlink(f"/proc/{pid}/fd/{fd}"))
            except OSError:
                continue
            if match:
                found.add(match[1])
    except OSError:
        return set()
    return found


def _read_tables(pid: int) -> dict[str, str]:
    """Inode of each listening socket, with what it listens on."""
    found: dict[str, str] = {}
    for table in ("tcp", "tcp6"):
        for row in _rows(f"/proc/{pid}/net/{table}"):
            fields = row.split()
            if len(fields) > 9 and fields[3] == LISTENING:  # noqa: PLR2004  # the inode is the tenth
                found[fields[9]] = format_address(fields[1])
    for row in _rows(f"/proc/{pid}/net/unix"):
        fields = row.split(maxsplit=7)
        if len(fields) > 6 and int(fields[3], 16) & ACCEPTS:  # noqa: PLR2004  # the inode is the seventh
            found[fields[6]] = fields[7] if len(fields) > 7 else "a socket without a name"  # noqa: PLR2004
    return found


def _rows(path: str) -> list[str]:
    try:
        return procfs.read_text(path).split("\n")[1:]
    except OSError:
        return []


def format_address(text: str) -> str:
    """`0100007F:1F90` → 127.0.0.1:8080, on a machine of either byte order."""
    address, _, port = text.partition(":")
    words = [int(address[at : at + WORD], 16).to_bytes(4, sys.byteorder) for at in range(0, len(address), WORD)]
    host = ipaddress.ip_address(b"".join(words))
    return f"[{host}]:{int(port, 16)}" if host.version == 6 else f"{host}:{int(port, 16)}"  # noqa: PLR2004
