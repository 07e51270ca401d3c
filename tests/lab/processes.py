"""Looks at processes with eyes of its own: the lab is the witness, so it shares nothing with what it judges."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    pid: int
    ppid: int
    state: str


def everyone() -> dict[int, Process]:
    """All processes that this user can see, zombies too."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fields = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue  # it ended while we were looking
            found[int(name)] = Process(int(name), int(fields[1]), fields[0].decode())
    return found


def below(pid: int) -> list[int]:
    """All descendants of a process, parents before children."""
    children: dict[int, list[int]] = {}
    for process in everyone().values():
        children.setdefault(process.ppid, []).append(process.pid)
    found: list[int] = []
    todo = [pid]
    while todo:
        new = children.get(todo.pop(), [])
        found += new
        todo += new
    return found


def marked(mark: str) -> list[int]:
    """Living processes that carry a mark in their environment."""
    sought = mark.encode()
    return [pid for pid in _alive() if sought in _read(pid, "environ").split(b"\0")]


def in_network(namespace: str) -> list[int]:
    """Living processes in a network namespace, named as /proc/PID/ns/net names it."""
    found = []
    for pid in _alive():
        try:
            if os.readlink(f"/proc/{pid}/ns/net") == namespace:
                found.append(pid)
        except OSError:
            continue  # ended, or somebody else's
    return found


def command(pid: int) -> str:
    return _read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace").strip() or _name(pid)


def _name(pid: int) -> str:
    return _read(pid, "comm").decode(errors="replace").strip()


def _alive() -> list[int]:
    return [process.pid for process in everyone().values() if process.state not in "ZX"]


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
