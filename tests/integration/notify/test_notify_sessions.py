"""The end of a session is told by its shim, unless a monitor is about to bring it back."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any

import pytest

from midwatch.core.verdict import Verdict
from midwatch.jobs import monitor_store
from midwatch.jobs.monitor_state import MonitorState
from midwatch.system import procfs
from tests.conftest import Box, until
from tests.integration.notify.conftest import Notices

ME = (os.getpid(), procfs.start_time(os.getpid()))


def crashed(notices: Notices, box: Box) -> str:
    """A session that has crashed and of which nobody was told; its run."""
    notices.mine(notices.command(fields='"{text}"'))
    box("run", "-d", "--name", "x", "--", "sh", "-c", "kill -9 $$")
    until(lambda: bool(notices.delivered()) and not notices.tellers())
    shutil.rmtree(box.dir / "outbox")
    notices.out.unlink()
    record = box.record("x")
    box.path("x.json").write_text(json.dumps(record | {"kind": "session", "agent": "claude"}))
    return str(record["run"])


def watched(box: Box, run: str, /, **more: Any) -> None:
    monitor_store.write_state(str(box.path("x")), MonitorState(run, procfs.boot_id(), ME, 1.0, 1.0)._replace(**more))


@pytest.mark.parametrize(
    "more", [{"resumes": 1}, {"acting": "resume"}, {"run": "the next"}], ids=["it may", "it does", "it did"]
)
def test_what_a_monitor_brings_back_has_not_ended(notices: Notices, box: Box, more: dict[str, Any]) -> None:
    run = crashed(notices, box)
    watched(box, run, **more)
    assert notices.start(None, "--run", run, "x").wait(60) == 0
    assert box("wait", "x").code == 3
    assert (notices.delivered(), notices.pending()) == ([], [])


OVER = Verdict("x", "session", "crashed", True, "it is gone", "gone", "unknown")


@pytest.mark.parametrize(
    "more",
    [
        {"resumes": 0},
        {"resumes": 1, "verdict": OVER},
        {"resumes": 1, "boot": "another"},
        {"resumes": 1, "monitor": (ME[0], 1)},
    ],
    ids=["no resume left", "it came to its end", "before a restart", "it was killed"],
)
def test_what_no_monitor_brings_back_is_told(notices: Notices, box: Box, more: dict[str, Any]) -> None:
    run = crashed(notices, box)
    watched(box, run, **more)
    assert notices.start(None, "--run", run, "x").wait(60) == 0
    [[text]] = notices.delivered()
    assert text.startswith("x crashed: ")
    assert text.endswith(f" (claude in {box.cwd.name})")


def test_without_a_monitor_it_is_told(notices: Notices, box: Box) -> None:
    run = crashed(notices, box)
    assert notices.start(None, "--run", run, "x").wait(60) == 0
    assert len(notices.delivered()) == 1
