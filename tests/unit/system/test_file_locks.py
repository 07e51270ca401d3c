"""Locks on files that their holder may remove."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from midwatch.system import file_locks


def test_who_waited_for_a_lock_that_was_removed_takes_the_one_in_its_place(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    held = file_locks.acquire(path)
    assert held is not None
    opened = threading.Event()
    found: list[int | None] = []

    def wait() -> None:
        opened.set()
        found.append(file_locks.acquire(path, 10.0))

    waiter = threading.Thread(target=wait)
    waiter.start()
    opened.wait()
    os.unlink(path)
    os.close(held)
    waiter.join()
    [got] = found
    assert got is not None
    assert os.fstat(got).st_ino == os.stat(path).st_ino
    assert file_locks.acquire(path) is None
    os.close(got)
    again = file_locks.acquire(path)
    assert again is not None
    os.close(again)
