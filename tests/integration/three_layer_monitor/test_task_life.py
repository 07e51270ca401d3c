"""A task directory made by the rules of the three-layer monitor, monitored through crash, hang, resume and end."""

from __future__ import annotations

import os
import signal

import pytest

from tests.conftest import alive
from tests.integration.three_layer_monitor.conftest import Make
from tests.integration.three_layer_monitor.tasks import QUICK, outcome


@pytest.mark.parametrize("form", ["manifest.json", "manifest"])
def test_a_task_through_crash_hang_resume_and_end(make: Make, form: str) -> None:
    task = make(form=form)
    task.plan("", "", "exit 0")
    first = task.begin()
    with task.watched(QUICK) as process:
        wrapper = task.wrapper_pid(first)
        os.kill(wrapper, signal.SIGKILL)
        os.kill(first, signal.SIGKILL)  # a crash: nobody is left to say how it ended
        second = task.until_run(2, "resumed")
        assert not task.has("resume")
        # The second agent says nothing, uses nothing and lives on: it hangs. It is ended, and brought back.
        found = outcome(process)
    assert not alive(second)
    assert (found["state"], found["final"], found["code"], found["exit_code"]) == ("completed", True, 0, 0)
    assert "resumed (1 of 10)" in found["told"]
    assert "resumed (2 of 10)" in found["told"]
    assert task.modes() == ["fresh", "resumed", "resumed"]
    manifest = task.manifest()
    assert (manifest["status"], str(manifest["exit_code"]), str(manifest["retry_count"])) == ("completed", "0", "2")
    assert manifest["task_name"] == "task"
    assert task.sessions() == [task.written]
