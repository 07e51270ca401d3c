"""Fixtures for work in the foreground."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import pytest

from tests.conftest import Box
from tests.integration.run.terminals import Go, Open, Terminal
from tests.integration.wait.disks import small
from tests.integration.wait.watching import gate

__all__ = ["gate", "small"]


@pytest.fixture
def terminal(box: Box) -> Iterator[Open]:
    with contextlib.ExitStack() as stack:
        yield lambda *arguments, **how: stack.enter_context(contextlib.closing(Terminal(box, *arguments, **how)))


@pytest.fixture
def go(box: Box) -> Iterator[Go]:
    """Lets work go on that waits with ``read line < go``, whether or not it has come there yet."""
    os.mkfifo(box.cwd / "go")
    fifo = os.open(box.cwd / "go", os.O_RDWR | os.O_CLOEXEC)

    def let_go() -> None:
        os.write(fifo, b"\n")

    yield let_go
    os.close(fifo)
