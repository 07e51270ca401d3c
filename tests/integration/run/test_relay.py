"""Relaying when the shim is killed at its first word."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from midwatch.jobs.foreground_relay import ForegroundRelay
from midwatch.jobs.foreground_streams import NOWHERE, WorkStreams
from midwatch.jobs.launch import LaunchedShim


def test_a_shim_killed_before_it_has_told_that_the_work_started_leaves_the_work_to_its_caller(tmp_path: Path) -> None:
    """It says who the work is before the work can say anything."""
    gate, go = os.pipe()
    out, theirs = os.pipe()
    shown, ours = os.pipe()
    work = subprocess.Popen(["sh", "-c", "read line; echo more"], stdin=gate, stdout=theirs)
    control, says = os.pipe()
    os.write(says, f"forked\t{work.pid}\n".encode())
    os.close(says)
    log = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    os.close(theirs)
    relay = ForegroundRelay(
        LaunchedShim(work.pid, control), WorkStreams((NOWHERE, NOWHERE, NOWHERE), {out: ours}, NOWHERE), log
    )
    os.write(go, b"\n")
    assert relay.run(1.0, lambda: None, lambda: None) is None
    assert os.read(shown, 100) == b"more\n"
    work.wait()
    for fd in (gate, go, ours, shown, control, log):
        os.close(fd)
