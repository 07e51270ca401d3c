"""`midwatch orphans` on real processes: found wherever they went, listed with their sockets, ended with care."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.jobs.orphans.rules import YOUNG
from midwatch.system import procfs
from tests.conftest import PATIENCE, Box, alive, kill, until, until_gone
from tests.users import become

LEAVE = "os.dup2(os.open(os.devnull, os.O_RDWR), 1)\n"
"""Its output is read until nobody has it open."""
PAUSE = "signal.pause()\n"
DOUBLE_FORK = f"""
import os, signal, sys
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
print(os.getpid(), flush=True)
{LEAVE}{PAUSE}"""
SERVE = f"""
import os, signal, socket, sys
if os.fork(): os._exit(0)
os.setsid()
heard = socket.create_server(("127.0.0.1", 0))
unix = socket.socket(socket.AF_UNIX); unix.bind(sys.argv[1] + ".sock"); unix.listen()
print(os.getpid(), heard.getsockname()[1], flush=True)
{LEAVE}{PAUSE}"""


class Leaver:
    """Jobs that leave processes behind; those are ended with the test, by pid and start."""

    def __init__(self, box: Box, directory: Path) -> None:
        self.box = box
        self.directory = directory
        self.left: dict[int, int] = {}

    def leave(self, name: str, script: str, file: str) -> list[int]:
        """Run a job that starts a Python script, which goes into the background, and ends. What the script said."""
        path = self.directory / file
        source = self.directory / f"{file}.py"
        source.write_text(script)
        shell = f"'{sys.executable}' {source} {path} 2>/dev/null | {{ read told; echo $told > {path}; }}"
        done = self.box("run", "--name", name, "--", "sh", "-c", shell)
        assert done.code == 0, done
        told = [int(word) for word in path.read_text().split()]
        self.left[told[0]] = procfs.start_time(told[0])
        return told

    def end(self) -> None:
        for pid, start in self.left.items():
            if start and procfs.start_time(pid) == start:
                kill(pid, signal.SIGKILL)


@pytest.fixture
def leaver(box: Box, tmp_path: Path) -> Iterator[Leaver]:
    found = Leaver(box, tmp_path)
    yield found
    found.end()


def orphans(box: Box, *words: str) -> list[dict[str, Any]]:
    done = box("orphans", *words, "--json")
    return [json.loads(line) for line in done.out.splitlines()]


def test_what_forked_twice_into_a_session_of_its_own_is_found(box: Box, leaver: Leaver) -> None:
    (pid,) = leaver.leave("build", DOUBLE_FORK, "daemon")
    (found,) = orphans(box)
    assert (found["pid"], found["kind"], found["listens"]) == (pid, "leftover", [])
    assert found["origin"] | {"run": ""} == {
        "name": "build", "run": "", "directory": str(box.dir), "state": "completed",
    }  # fmt: skip
    assert (found["age_s"] >= 0, found["memory_bytes"] > 0, found["start"]) == (True, True, procfs.start_time(pid))
    done = box("orphans")
    assert done.out.split("\n")[1].split()[:4] == [str(pid), "build", "completed", "leftover"]


def test_what_a_live_job_has_started_is_none(box: Box) -> None:
    box("run", "-d", "--name", "live", "--", "sh", "-c", "setsid sleep 1000 & exec sleep 1000")
    box.until_file("live.pid")
    assert orphans(box) == []
    done = box("orphans", "--stop", "--yes")
    assert done.code == 0
    assert alive(box.pids("live")[1])
    box("stop", "live")


def test_work_whose_shim_was_killed_is_none_as_long_as_its_job_is_not_over(box: Box) -> None:
    box("run", "-d", "--name", "live", "--", "sleep", "1000")
    shim, work = box.pids("live")
    kill(shim, signal.SIGKILL)
    until_gone(shim)
    assert not box("why", "live", "--json").json["final"]
    assert orphans(box) == []
    box("orphans", "--stop", "--yes")
    assert alive(work)
    box("stop", "live")
    until_gone(work)


def test_a_job_that_a_job_has_started_is_none(box: Box) -> None:
    inner = f"'{sys.executable}' -m midwatch run -d --name inner -- sleep 1000"
    assert box("run", "--name", "outer", "--", "sh", "-c", inner, MIDWATCH_HOME=str(box.dir)).code == 0
    assert [each["origin"]["name"] for each in orphans(box)] == []
    box("orphans", "--stop", "--yes")
    assert box("why", "inner", "--json").json["state"] == "working"
    box("stop", "inner")


def test_a_server_is_told_with_what_it_listens_on_and_ended_only_when_named(box: Box, leaver: Leaver) -> None:
    server, port = leaver.leave("web", SERVE, "server")
    (other,) = leaver.leave("web2", DOUBLE_FORK, "other")
    found = {each["pid"]: each for each in orphans(box)}
    assert found[server]["kind"] == "server"
    assert f"127.0.0.1:{port}" in found[server]["listens"]
    assert any(path.endswith("server.sock") for path in found[server]["listens"])
    done = box("orphans", "--stop", "--yes")
    assert done.code == 0, done
    assert str(server) in done.err
    until_gone(other)
    assert alive(server)
    assert box("orphans", "--stop", str(server), "--yes").code == 0
    until_gone(server)


def test_a_server_is_named_by_the_job_that_it_comes_from(box: Box, leaver: Leaver) -> None:
    server, _ = leaver.leave("web", SERVE, "server")
    done = box("orphans", "--stop", "web", "--yes", "--json")
    assert (done.code, done.json["ended"]) == (0, True)
    until_gone(server)


def test_what_does_not_end_at_term_is_killed(box: Box, leaver: Leaver) -> None:
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + DOUBLE_FORK
    (pid,) = leaver.leave("deaf", deaf, "deaf")
    assert box("orphans", "--stop", "--yes").code == 0
    until_gone(pid)


def test_it_asks_first(box: Box, leaver: Leaver) -> None:
    (pid,) = leaver.leave("build", DOUBLE_FORK, "daemon")
    done = box("orphans", "--stop")
    assert done.code == 2
    assert "say --yes" in done.err
    for said, code in (("n\n", 130), ("y\n", 0)):
        leader, follower = pty.openpty()
        called = box.start("orphans", "--stop", stdin=follower, stderr=subprocess.STDOUT)
        os.close(follower)
        os.write(leader, said.encode())
        out, _ = called.communicate(timeout=PATIENCE)
        os.close(leader)
        assert called.returncode == code, out
        assert "build" in out
        assert alive(pid) == (code != 0)


def test_what_is_no_orphan_is_not_ended_though_it_is_named(box: Box, leaver: Leaver) -> None:
    (pid,) = leaver.leave("build", DOUBLE_FORK, "daemon")
    done = box("orphans", "--stop", str(os.getpid()), "nobody", "--yes")
    assert done.code == 7
    assert f"{os.getpid()} is no orphan" in done.err
    assert alive(pid)


def test_what_it_was_called_from_is_never_ended(leaver: Leaver) -> None:
    """An orphan that cleans up behind its own job goes on."""
    go = leaver.directory / "go"
    os.mkfifo(go)
    script = DOUBLE_FORK.replace(
        PAUSE,
        "import subprocess\n"
        f"open({str(go)!r}).read()\n"
        f"subprocess.run([{sys.executable!r}, '-m', 'midwatch', 'orphans', '--stop', '--yes'])\n"
        "open(sys.argv[1] + '.after', 'w').write('there')\n" + PAUSE,
    )
    (pid,) = leaver.leave("build", script, "caller")
    (other,) = leaver.leave("build2", DOUBLE_FORK, "other")
    go.write_text("go")
    until((leaver.directory / "caller.after").exists, leaver.directory)
    assert alive(pid)
    until_gone(other)


def test_a_job_without_a_record_is_gone(box: Box, leaver: Leaver) -> None:
    (pid,) = leaver.leave("build", DOUBLE_FORK, "daemon")
    for path in box.dir.glob("build*"):
        path.unlink()
    until(lambda: bool(orphans(box)))
    (found,) = orphans(box)
    assert (found["pid"], found["origin"]["state"]) == (pid, "gone")


def test_what_was_adopted_as_a_job_is_none_any_more(box: Box, leaver: Leaver) -> None:
    (pid,) = leaver.leave("build", DOUBLE_FORK, "daemon")
    assert len(orphans(box)) == 1
    done = box("adopt", "--pid", str(pid), "--name", "kept")
    assert done.code == 0, done
    assert orphans(box) == []
    box("orphans", "--stop", "--yes")
    assert alive(pid)
    box("stop", "kept")
    until_gone(pid)


def test_a_directory_that_is_not_there_tells_nothing(box: Box, leaver: Leaver) -> None:
    """It may be moved or covered for a while; its jobs may be alive."""
    (pid,) = leaver.leave("build", DOUBLE_FORK, "daemon")
    until(lambda: orphans(box)[0]["age_s"] > YOUNG)
    box.dir.rename(box.dir.with_name("moved"))
    done = box("orphans", "--stop", str(pid), "--all", "--yes", MIDWATCH_HOME=str(leaver.directory / "elsewhere"))
    assert done.code == 7, "by its pid alone: other tests of this machine may have orphans, too"
    assert alive(pid)
    box.dir.with_name("moved").rename(box.dir)
    assert [each["pid"] for each in orphans(box)] == [pid]


def test_an_earlier_run_of_a_name_is_told_apart(box: Box, leaver: Leaver) -> None:
    (pid,) = leaver.leave("build", DOUBLE_FORK, "daemon")
    run = box.record("build")["run"]
    assert box("run", "-d", "--name", "build", "--", "sleep", "1000").code == 0
    (found,) = orphans(box)
    assert (found["pid"], found["origin"]["run"]) == (pid, run)
    assert box("orphans", "--stop", "--yes").code == 0
    until_gone(pid)
    assert alive(box.pids("build")[1])
    box("stop", "build")


def test_orphans_of_other_projects_are_listed_on_demand(box: Box, leaver: Leaver, tmp_path: Path) -> None:
    (pid,) = leaver.leave("build", DOUBLE_FORK, "daemon")
    elsewhere = {"MIDWATCH_HOME": str(tmp_path / "elsewhere")}
    assert box("orphans", "--json", **elsewhere).out == ""
    assert pid in [json.loads(line)["pid"] for line in box("orphans", "--all", "--json", **elsewhere).out.splitlines()]


def test_a_process_of_another_user_is_not_listed(box: Box, leaver: Leaver) -> None:
    """It may carry any mark: nobody else's environment is read, and nobody else's process is touched."""
    (pid,) = leaver.leave("build", DOUBLE_FORK, "daemon")
    marks = dict(entry.split("=", 1) for entry in procfs.read_text(f"/proc/{pid}/environ").split("\0") if "=" in entry)
    env = {key: value for key, value in marks.items() if key.startswith("MIDWATCH_")}
    with subprocess.Popen([*become("nobody"), "sleep", "1000"], env=env | {"PATH": os.environ["PATH"]}) as other:
        try:
            until(lambda: procfs.command_name(other.pid) == "sleep")
            assert [each["pid"] for each in orphans(box)] == [pid]
            assert box("orphans", "--stop", str(other.pid), "--yes").code == 7
            assert alive(other.pid)
        finally:
            other.kill()
