"""Disks that are full, read-only or gone, made of real file systems."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Box


def mounted(path: Path, options: str) -> None:
    """Mount a small file system, or say why this test cannot be: a failure under CI, a named skip elsewhere."""
    path.mkdir(mode=0o700)
    over(path, "-t", "tmpfs", "-o", options, "midwatch-test")


def over(path: Path, *what: str) -> None:
    """Mount something over a directory, or say why that cannot be."""
    done = subprocess.run(["mount", *what, str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        why = f"a file system cannot be mounted here: {done.stderr.strip()}"
        pytest.fail(why) if os.environ.get("CI") == "true" else pytest.skip(why)


@pytest.fixture
def small(box: Box) -> Iterator[Box]:
    """A box whose directory is a disk of 64 kB."""
    mounted(box.dir, "size=64k,mode=700")
    yield box
    with contextlib.suppress(FileNotFoundError):
        box.path("filler").unlink()
    box.sweep()
    subprocess.run(["umount", "--lazy", str(box.dir)], check=True)


def fill(box: Box) -> None:
    with contextlib.suppress(OSError), box.path("filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(b"x" * 4096)
    assert os.statvfs(box.dir).f_bavail == 0
