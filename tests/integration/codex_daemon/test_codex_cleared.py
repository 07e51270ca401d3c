"""What real processes prove of a Codex that was cleared: who else works there, and what it has locked."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from midwatch.agents import catalog
from midwatch.agents.codex import conversation
from midwatch.agents.codex.daemon import CodexDaemon
from midwatch.core.pane_model import RunningAgent
from midwatch.system import procfs
from tests.conftest import until

CODEX = catalog.load("codex")
FIRST = "01a1ef11-0000-7000-8000-000000000000"
SECOND = "01a1ef12-0000-7000-8000-000000000000"
Start = Callable[..., RunningAgent]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a process that is called codex; it sleeps, and has some files open."""
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    shutil.copy(shutil.which("sleep") or "sleep", program)
    begun: list[subprocess.Popen[bytes]] = []

    def found(
        cwd: Path, *, home: Path = tmp_path, holds: tuple[Path, ...] = (), args: tuple[str, ...] = ()
    ) -> RunningAgent:
        cwd.mkdir(exist_ok=True)
        files = [path.open("w") for path in holds]
        call = ["sh", "-c", 'exec "$0" 600', str(program)]
        keep = tuple(each.fileno() for each in files)
        begun.append(subprocess.Popen(call, cwd=cwd, env={"HOME": str(home)}, pass_fds=keep))
        pid = begun[-1].pid
        until(lambda: procfs.command_name(pid) == "codex")
        for each in files:
            each.close()
        return RunningAgent("codex", pid, procfs.start_time(pid), 0.0, str(cwd), ("codex", *args), {"HOME": str(home)})

    yield found
    for each in begun:
        each.kill()
        each.wait()


def test_another_codex_of_the_same_daemon_in_the_same_directory_is_company(
    start: Start, sense: CodexDaemon, home: Path
) -> None:
    here = start(home / "proj")
    assert sense.is_alone(here, CODEX)
    start(home / "elsewhere")
    start(home / "proj", home=home / "other-home")
    assert sense.is_alone(here, CODEX)
    start(home / "proj")
    assert not sense.is_alone(here, CODEX)


def test_the_processes_of_one_codex_are_no_company(start: Start, sense: CodexDaemon, home: Path) -> None:
    here = start(home / "proj")
    parent = here._replace(pid=os.getpid(), start=procfs.start_time(os.getpid()))
    assert sense.is_alone(parent, CODEX), "a launcher and the program below it are one"


def test_the_last_conversation_that_is_locked_and_has_no_rollout_is_unused(start: Start, tmp_path: Path) -> None:
    locks = tmp_path / "thread-writer-locks"
    locks.mkdir()
    first, second = locks / f"{FIRST}.lock", locks / f"{SECOND}.lock"
    said, more = (tmp_path / f"rollout-2026-11-18T14-39-34-{each}.jsonl" for each in (FIRST, SECOND))
    cwd = tmp_path / "proj"
    assert conversation.unused_conversation(start(cwd, holds=(first, said, second))) == SECOND
    assert conversation.unused_conversation(start(cwd, holds=(first, said, second, more))) == ""
    assert conversation.unused_conversation(start(cwd, holds=(first,))) == "", "it has begun only one"
    gone = start(cwd, holds=(first, said, second))
    assert conversation.unused_conversation(gone._replace(start=gone.start + 1)) == "", "its pid is another's by now"
