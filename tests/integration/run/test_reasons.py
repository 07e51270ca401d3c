"""A foreground `run` without a terminal: where the exit code is ours and not the command's, stderr says why."""

from __future__ import annotations

import resource
import signal
import subprocess
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, Box, Done


def run(box: Box, *arguments: str, files: int = 0) -> Done:
    """`midwatch run` in the foreground, which may have that many files open."""
    limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))) if files else None
    process = box.start("run", "--name", "job", *arguments, preexec_fn=limit)
    out, err = process.communicate(timeout=PATIENCE)
    return Done(subprocess.CompletedProcess(process.args, process.returncode, out, err))


def reason(done: Done, code: int) -> str:
    """The one line on stderr; nothing else was printed."""
    assert (done.code, done.out) == (code, ""), done
    (line,) = done.err.splitlines()
    assert line.startswith("midwatch: "), done
    return line.removeprefix("midwatch: ")


@pytest.mark.parametrize(
    ("program", "code", "says"),
    [
        ("no-such-program", 127, "No such file or directory"),
        ("./no-such-program", 127, "No such file or directory"),
        ("/etc/passwd", 126, "Permission denied"),
        ("/", 126, "Permission denied"),
    ],
)
def test_a_program_that_cannot_be_started(box: Box, program: str, code: int, says: str) -> None:
    told = reason(run(box, "--", program), code)
    assert told.startswith(f"{program}: ")
    assert says in told
    assert box("wait", "job", "--json").json["cause"] == "not-started"


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_directory_that_others_may_write_is_125(box: Box, mode: int) -> None:
    box.dir.mkdir()
    box.dir.chmod(mode)
    told = reason(run(box, "--", "touch", "ran"), 125)
    assert told == f"others may write to {box.dir}; use a directory of your own, or `chmod go-w {box.dir}`"
    assert not (box.cwd / "ran").exists()


def test_a_directory_that_cannot_be_made_is_125(box: Box) -> None:
    told = reason(run(box, "--dir", "/proc/nowhere", "--", "true"), 125)
    assert told == "cannot write to /proc/nowhere: No such file or directory; choose another with --dir"


@pytest.mark.parametrize("files", range(6, 30))
def test_too_few_file_descriptors_are_125_or_enough(box: Box, files: int) -> None:
    """Whatever the limit is, either the command runs and all is said as always, or nothing runs and the reason is."""
    done = run(box, "--", "touch", "ran", files=files)
    if done.code == 0:
        assert (done.out, done.err, (box.cwd / "ran").exists()) == ("", "", True)
    else:
        assert "Too many open files" in reason(done, 125)
        assert "ulimit -n 1024" in done.err
        assert not (box.cwd / "ran").exists()


def test_a_settings_file_that_is_broken_is_125(box: Box) -> None:
    (box.cwd / "midwatch.toml").write_text("[policy]\nstael = 3\n")
    assert "midwatch.toml:2: unknown key 'stael'" in reason(run(box, "--", "true"), 125)


def test_a_timeout_is_124(box: Box) -> None:
    assert reason(run(box, "--timeout", "0.2s", "--", "sleep", "1000"), 124).startswith("job: timeout: ")


def test_work_that_is_stopped_because_it_is_stuck_is_125(box: Box) -> None:
    done = run(box, "--stale", "0.2s", "--grace", "0", "--on-stuck", "stop", "--", "sleep", "1000")
    assert reason(done, 125).startswith("job: stuck: no output")


@pytest.mark.parametrize("how", ["stop", "TERM"])
def test_work_that_is_stopped_is_125(box: Box, how: str, tmp_path: Path) -> None:
    fifo = tmp_path / "ready"
    subprocess.run(["mkfifo", str(fifo)], check=True)
    process = box.start("run", "--name", "job", "--", "sh", "-c", f"echo > {fifo}; exec sleep 1000")
    fifo.read_text()
    if how == "stop":
        assert box("stop", "job").code == 0
    else:
        process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE)
    done = Done(subprocess.CompletedProcess(process.args, process.returncode, out, err))
    assert reason(done, 125).startswith("job: stopped: ")
