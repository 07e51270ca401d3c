"""Whatever is wrong with the world, an agent does not notice its hook. (`ended_well` checks: soon, 0, silence.)"""

import json
import os
import pty
import resource
import subprocess
import time
from pathlib import Path

import pytest

from midwatch.agents.hooks.spool import HookSpool
from tests.conftest import PATIENCE
from tests.integration.hooks.calling import SCRIPT, Spool, ended_well, pane, this_process
from tests.integration.wait.watching import allowed

STOP = {"session_id": "c", "hook_event_name": "Stop"}


def last(spool: Spool) -> str:
    found = HookSpool(str(spool.path)).read(this_process(), pane())
    assert found is not None
    return found.words["conversation"]


# The spool ----------------------------------------------------------------------------------------------------------


def test_no_spool(spool: Spool) -> None:
    spool.path.rmdir()
    spool.call(STOP)
    assert not spool.path.exists()


def test_a_file_where_the_spool_should_be(spool: Spool) -> None:
    spool.path.rmdir()
    spool.path.write_text("mine")
    spool.call(STOP)
    assert spool.path.read_text() == "mine"


def test_a_spool_in_which_nothing_can_be_made(spool: Spool) -> None:
    spool.path = Path("/proc/self")
    spool.call(STOP)
    assert not spool.file.exists()


def test_a_pipe_where_the_file_should_be_makes_nobody_wait(spool: Spool) -> None:
    os.mkfifo(spool.file)
    spool.call(STOP)
    assert spool.file.is_fifo()


@pytest.mark.parametrize("target", ["/dev/full", "elsewhere", "nowhere"])
def test_a_link_where_the_file_should_be_is_not_followed(spool: Spool, target: str) -> None:
    (spool.path / "elsewhere").write_text("mine")
    spool.file.symlink_to(target)
    spool.call(STOP)
    assert (spool.path / "elsewhere").read_text() == "mine"
    assert not (spool.path / "nowhere").exists()


def test_a_directory_where_the_file_should_be(spool: Spool) -> None:
    spool.file.mkdir()
    spool.call(STOP)
    assert list(spool.file.iterdir()) == []


def test_a_full_disk_costs_events_but_no_older_ones_and_none_that_come_later(spool: Spool, tmp_path: Path) -> None:
    enter = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    if subprocess.run([*enter, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespace may be made here")
    hook = f'{" ".join(spool.shell)} "$HOOK" "$SPOOL" claude'
    steps = f"""
        mount -t tmpfs -o size=64k none "$SPOOL" || exit 2
        echo '{{"hook_event_name":"Stop","session_id":"before"}}' | {hook} || exit 3
        cat /dev/zero >"$SPOOL/ballast" 2>/dev/null
        at=0
        while [ $((at += 1)) -le 30 ]; do echo "$LONG" | {hook} || exit 4; done
        rm "$SPOOL/ballast"
        echo '{{"hook_event_name":"Stop","session_id":"after"}}' | {hook} || exit 5
        ls -A "$SPOOL" >"$OUT.names"
        cat "$SPOOL"/*.events >"$OUT"
    """
    more = {"LONG": json.dumps(STOP | {"x": "x" * 900}), "HOOK": str(SCRIPT), "SPOOL": str(spool.path)}
    done = subprocess.run(
        [*enter, "sh", "-c", steps], env=spool.env | more | {"OUT": str(tmp_path / "out")}, timeout=PATIENCE,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "out.names").read_text().split() == [spool.file.name]
    spool.file.write_bytes((tmp_path / "out").read_bytes())
    assert b"before" in spool.lines()[0]
    assert b'"x": "xxx' in spool.lines()[1]
    assert not spool.lines()[-2].endswith(b"}"), "the disk was full in the middle of a line"
    assert last(spool) == "after"


def test_a_limit_for_files_that_another_has_set(spool: Spool) -> None:
    spool.call(STOP, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)))
    assert spool.file.stat().st_size <= 64
    spool.call(STOP | {"session_id": "later"})
    assert last(spool) == "later"


# The caller ---------------------------------------------------------------------------------------------------------


def test_standard_input_that_is_never_closed(either: Spool) -> None:
    ours, theirs = either.ends()
    process = either.start(stdin=theirs)
    os.close(theirs)
    os.write(ours, json.dumps(STOP).encode())
    began = time.monotonic()
    ended_well(process)
    assert time.monotonic() - began < allowed(1.5), "what was sent is enough"
    os.close(ours)
    assert last(either) == "c"


def test_standard_input_on_which_nothing_ever_comes(either: Spool) -> None:
    ours, theirs = either.ends()
    process = either.start(stdin=theirs)
    os.close(theirs)
    ended_well(process)
    os.close(ours)
    assert list(either.path.iterdir()) == []


def test_a_long_payload_that_never_ends(either: Spool) -> None:
    ours, theirs = either.ends()
    process = either.start(stdin=theirs)
    os.close(theirs)
    with open(ours, "wb", buffering=0) as pipe:
        pipe.write(b'{"session_id": "c", "hook_event_name": "Stop", "x": "' + b"x" * 100_000)
        ended_well(process)
    assert last(either) == "c"


def test_a_terminal_as_standard_input(spool: Spool) -> None:
    ours, theirs = pty.openpty()
    process = spool.start(stdin=theirs)
    os.close(theirs)
    began = time.monotonic()
    ended_well(process)
    assert time.monotonic() - began < allowed(1.5)
    os.close(ours)
    assert list(spool.path.iterdir()) == []


@pytest.mark.parametrize("payload", [b"", b"\n", b"no JSON", b"\0\0", b"\xff\xfe{", b"%s%n%d \\n \\c", b"{" * 70_000])
def test_a_payload_that_is_none(spool: Spool, payload: bytes) -> None:
    spool.call(payload)
    spool.call(STOP)
    assert last(spool) == "c"


def test_no_standard_input_at_all(spool: Spool) -> None:
    process = spool.start(stdin=None, preexec_fn=lambda: os.close(0))
    ended_well(process)
    assert list(spool.path.iterdir()) == []


def test_a_path_that_leads_to_no_programs(spool: Spool, tmp_path: Path) -> None:
    spool.call(STOP, env=spool.env | {"PATH": str(tmp_path)})
    assert last(spool) == "c"


@pytest.mark.parametrize("given", [[], ["/spool"], ["", ""]], ids=["nothing", "spool-only", "empty"])
def test_too_few_arguments(spool: Spool, given: list[str]) -> None:
    process = subprocess.Popen(
        [*spool.shell, str(SCRIPT), *given], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    ended_well(process)
    assert list(spool.path.iterdir()) == []


@pytest.mark.parametrize("tmux", ["", "nonsense", "x" * 5000, "/a\tb,1,0", "/a\nb,1,0"])
def test_an_odd_environment(spool: Spool, tmux: str) -> None:
    spool.call(STOP, env=spool.env | {"TMUX": tmux, "TMUX_PANE": "%1 2"})
    spool.call(STOP)
    assert last(spool) == "c"
