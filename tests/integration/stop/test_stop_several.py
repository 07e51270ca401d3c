"""Several jobs in one `stop`, and what a caller without a terminal is told."""

from __future__ import annotations

import resource
import subprocess

from tests.conftest import Box
from tests.integration.wait.watching import start


def test_jobs_are_stopped_side_by_side(box: Box) -> None:
    """Each ends only after the other was asked to. Its shell itself says so: a child of it would be ended, too."""
    for name in ("one", "two"):
        subprocess.run(["mkfifo", str(box.cwd / name)], check=True)
    for me, other in (("one", "two"), ("two", "one")):
        pipes = f"exec 3<>{me} 4<>{other}"  # for both, so that opening waits for nobody
        script = f"{pipes}; trap 'echo >&3; read line <&4; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
        start(box, me, "sh", "-c", script)
        box.until_file(f"{me}.log", lambda text: "ready" in text)
    done = box("stop", "one", "two", "--json")
    assert done.code == 0
    assert [box.record(name)["end"]["exit_code"] for name in ("one", "two")] == [0, 0], "none had to be killed"


def test_a_foreground_run_says_on_stderr_why_it_ended_with_124(box: Box) -> None:
    done = box("run", "--name", "job", "--timeout", "0.2s", "--", "sleep", "300")
    assert done.code == 124
    assert "timeout" in done.err


def test_too_few_file_descriptors_are_an_error_with_advice(box: Box) -> None:
    for limit in (7, 8, 10):
        process = box.start(
            "run", "-d", "--name", "job", "--", "true",
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)),
        )  # fmt: skip
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out) == (125, ""), err
        assert "Too many open files" in err
        assert "Traceback" not in err
