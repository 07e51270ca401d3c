"""Leases of conversations and of monitors, with processes that hold them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.jobs import monitor_store
from midwatch.jobs.monitor_state import MonitorState
from midwatch.sessions import conversation_lease
from midwatch.system.atomic_files import write_atomic

DAEMON = ("sample app-server",)


@pytest.fixture(autouse=True)
def _state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


class Holder:
    """A process that inherits a lease, as an agent does."""

    def __init__(self, fd: int, *words: str) -> None:
        code = "import sys; sys.stdin.read()"
        self.process = subprocess.Popen([sys.executable, "-c", code, *words], stdin=subprocess.PIPE, pass_fds=(fd,))
        self.pid = self.process.pid

    def end(self) -> None:
        self.process.communicate()


@pytest.fixture
def holders() -> Iterator[list[Holder]]:
    found: list[Holder] = []
    yield found
    for each in found:
        each.end()


def take(conversation: str = "c1") -> int | None:
    return conversation_lease.acquire_lease("sample", conversation, DAEMON)


def lease(conversation: str = "c1") -> int:
    found = take(conversation)
    assert found is not None
    return found


def locks(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "midwatch" / "leases").glob("*.lock"))


def test_of_two_takers_one_gets_it() -> None:
    first = lease()
    assert take() is None
    assert take("c2") is not None
    os.close(first)
    os.close(lease())


def test_it_is_free_only_when_the_last_who_inherited_it_is_gone(holders: list[Holder]) -> None:
    fd = lease()
    holders.append(Holder(fd))
    os.close(fd)
    assert take() is None
    assert conversation_lease.find_holders("sample", "c1", DAEMON) == [holders[0].pid]
    holders.pop().end()
    assert conversation_lease.find_holders("sample", "c1", DAEMON) == []
    os.close(lease())


def test_a_daemon_that_inherited_it_holds_nothing(holders: list[Holder]) -> None:
    fd = lease()
    holders.append(Holder(fd, "sample app-server"))
    os.close(fd)
    assert conversation_lease.find_holders("sample", "c1", DAEMON) == []
    assert conversation_lease.find_holders("sample", "c1", ()) == [holders[0].pid]
    second = lease()
    assert take() is None
    os.close(second)


def test_a_daemon_beside_an_agent_changes_nothing(holders: list[Holder]) -> None:
    fd = lease()
    holders += [Holder(fd, "sample app-server"), Holder(fd)]
    os.close(fd)
    assert take() is None
    assert conversation_lease.find_holders("sample", "c1", DAEMON) == [holders[1].pid]


def test_a_lease_without_a_name_gets_one_when_it_is_known(tmp_path: Path) -> None:
    fd = conversation_lease.create_lease("run-1")
    assert locks(tmp_path) == ["run-1.lock"]
    assert conversation_lease.rename_lease("run-1", "sample", "c1", DAEMON)
    assert locks(tmp_path) == ["sample-c1.lock"]
    assert take() is None
    assert conversation_lease.rename_lease("run-1", "sample", "c1", DAEMON)  # whoever learns it second
    assert take() is None
    os.close(fd)
    os.close(lease())


def test_the_name_of_a_lease_that_is_held_is_not_given_away() -> None:
    other, own = lease(), conversation_lease.create_lease("run-1")
    assert not conversation_lease.rename_lease("run-1", "sample", "c1", DAEMON)
    os.close(other)
    assert conversation_lease.rename_lease("run-1", "sample", "c1", DAEMON)
    assert take() is None
    os.close(own)


def test_the_name_of_a_lease_that_only_a_daemon_has_is_given(holders: list[Holder]) -> None:
    fd = lease()
    holders.append(Holder(fd, "sample app-server"))
    os.close(fd)
    own = conversation_lease.create_lease("run-1")
    assert conversation_lease.rename_lease("run-1", "sample", "c1", DAEMON)
    assert take() is None
    os.close(own)


def test_what_was_left_long_ago_is_swept_away_unless_it_is_held(tmp_path: Path) -> None:
    held = lease("old")
    os.close(lease("older"))
    os.close(conversation_lease.create_lease("run-0"))
    for path in (tmp_path / "midwatch" / "leases").iterdir():
        os.utime(path, (time.time() - 2 * conversation_lease.KEPT,) * 2)
    os.close(lease("new"))
    assert locks(tmp_path) == ["sample-new.lock", "sample-old.lock"]
    assert take("old") is None
    os.close(held)


@pytest.mark.parametrize("conversation", ["../../etc/x", "a/b", "ses_1.2"])
def test_no_id_leads_elsewhere(conversation: str, tmp_path: Path) -> None:
    os.close(lease(conversation))
    assert len(locks(tmp_path)) == 1


def test_what_was_learned_is_of_that_run(tmp_path: Path) -> None:
    base = str(tmp_path / "api")
    assert conversation_lease.read_conversation(base, "run-1") == ""
    conversation_lease.write_conversation(base, "run-1", "c1")
    assert conversation_lease.read_conversation(base, "run-1") == "c1"
    assert conversation_lease.read_conversation(base, "run-2") == ""


# Monitors -------------------------------------------------------------------------------------------------------------


def test_of_two_monitors_one_acts(tmp_path: Path) -> None:
    first, second = (monitor_store.session_lease(str(tmp_path / "api")) for _ in range(2))
    assert first.take()
    assert first.take()
    assert not second.take()
    first.close()
    assert second.take()
    second.close()


def test_a_lease_of_a_monitor_is_inherited_by_nobody(tmp_path: Path) -> None:
    first, second = (monitor_store.session_lease(str(tmp_path / "api")) for _ in range(2))
    assert first.take()
    reads = [sys.executable, "-c", "print('up', flush=True); input()"]
    with subprocess.Popen(reads, stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=False) as child:
        assert child.stdout
        assert child.stdout.readline() == b"up\n", "a parent goes on a moment before the child's files are closed"
        first.close()
        assert second.take()
        child.communicate()
    second.close()


def test_notes_are_read_of_the_run_that_is_meant(tmp_path: Path) -> None:
    base, watch = str(tmp_path / "api"), MonitorState("run-1", "boot", (1, 2), 3.0, 4.0)
    assert monitor_store.read_state(base) is None
    monitor_store.write_state(base, watch)
    assert (
        monitor_store.read_state(base),
        monitor_store.read_state(base, "run-1"),
        monitor_store.read_state(base, "run-2"),
    ) == (
        watch,
        watch,
        None,
    )
    write_atomic(f"{base}.watch", "rubbish")
    assert monitor_store.read_state(base) is None


def test_a_link_in_place_of_notes_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "api.watch").symlink_to("/etc/passwd")
    (tmp_path / "api.halt").symlink_to("/etc/passwd")
    assert monitor_store.read_state(str(tmp_path / "api")) is None
    assert not monitor_store.is_stop_requested(str(tmp_path / "api"), 0.0)


def test_a_wish_to_stop_holds_from_its_moment_on(tmp_path: Path) -> None:
    base = str(tmp_path / "api")
    assert not monitor_store.is_stop_requested(base, 0.0)
    before = time.time()
    monitor_store.request_stop(base)
    assert monitor_store.is_stop_requested(base, before)
    assert not monitor_store.is_stop_requested(base, time.time() + 1)
    write_atomic(f"{base}.halt", "rubbish")
    assert not monitor_store.is_stop_requested(base, 0.0)
