"""The registry's file: where it is, when it is read again, and how it is changed."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from midwatch.core.errors import FormatError, RefusedError
from midwatch.registry import store as registry_store
from midwatch.registry.codec import registry_file as text_of
from midwatch.registry.model import AddRow, Change, Registry, SetFields
from midwatch.registry.store import RegistryFile, find_registry, registry_workspace

TEXT = "# mine\nsessions:\n  - name: a   # first\n    status: running\n"
STOPPED = TEXT.replace("running", "stopped")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that was written long ago."""
    found = tmp_path / "midwatch-sessions.yaml"
    found.write_text(TEXT)
    os.utime(found, (1_000_000_000, 1_000_000_000))
    return found


def stop(found: Registry) -> list[Change]:
    return [SetFields(row.at, {"status": "stopped"}) for row in found.rows]


def beside(path: Path) -> set[str]:
    return {each.name for each in path.parent.iterdir()} - {path.name, f"{path.name}.lock"}


# Where it is


@pytest.fixture(autouse=True)
def _no_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORKSPACE_ROOT", raising=False)


def test_the_nearest_registry_upwards_is_found(tmp_path: Path) -> None:
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "a/.hermes").mkdir()
    (tmp_path / "midwatch-sessions.yaml").touch()
    assert find_registry(None, str(tmp_path / "a/b/c")) == str(tmp_path / "midwatch-sessions.yaml")
    (tmp_path / "a/.hermes/agent-sessions.yaml").touch()
    assert find_registry(None, str(tmp_path / "a/b/c")) == str(tmp_path / "a/.hermes/agent-sessions.yaml")
    (tmp_path / "a/midwatch-sessions.yaml").touch()
    assert find_registry(None, str(tmp_path / "a")) == str(tmp_path / "a/.hermes/agent-sessions.yaml")
    (tmp_path / "a/b/midwatch-sessions.yaml").touch()
    assert find_registry(None, str(tmp_path / "a/b/c")) == str(tmp_path / "a/b/midwatch-sessions.yaml")


def test_the_one_that_is_given_counts_and_then_the_workspace_root(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/midwatch-sessions.yaml").touch()
    monkeypatch.setenv("WORKSPACE_ROOT", str(tmp_path / "other"))
    assert find_registry(None, str(path.parent)) == str(tmp_path / "other/midwatch-sessions.yaml")
    monkeypatch.chdir(tmp_path)
    assert find_registry("x.yaml", "/") == str(tmp_path / "x.yaml")


def test_where_there_is_none_it_is_said_what_to_do() -> None:
    with pytest.raises(RefusedError, match=r"there is no .* in /proc or above it; `midwatch session create` makes"):
        find_registry(None, "/proc")


def test_a_registry_is_for_the_directory_around_it(tmp_path: Path) -> None:
    (tmp_path / "real/.hermes").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    assert registry_workspace(f"{tmp_path}/link/.hermes/agent-sessions.yaml") == str(tmp_path / "real")
    assert registry_workspace(f"{tmp_path}/link/midwatch-sessions.yaml") == str(tmp_path / "real")


# Reading


def test_it_is_taken_apart_again_only_where_it_has_changed(path: Path) -> None:
    file = RegistryFile(str(path))
    first = file.read()
    assert file.read() is first
    assert file.changed == 1_000_000_000
    os.utime(path, (1_000_000_001, 1_000_000_001))
    assert file.read() is first
    assert file.changed == 1_000_000_001
    path.write_text(STOPPED)
    assert file.read().rows[0].status == "stopped"
    assert file.changed > 1_000_000_001


def test_a_change_within_one_tick_of_the_clock_is_seen(path: Path) -> None:
    file = RegistryFile(str(path))
    path.write_text(TEXT)
    before = path.stat()
    assert file.read().rows[0].status == "running"
    path.write_text(STOPPED)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.read().rows[0].status == "stopped"


def test_what_cannot_be_read_is_refused_with_what_to_do(path: Path, tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"cannot read .*nowhere: No such file .*--registry"):
        RegistryFile(f"{tmp_path}/nowhere").read()
    with pytest.raises(RefusedError, match="not a regular file"):
        RegistryFile(str(tmp_path)).read()
    path.write_bytes(b"sessions:\n- name: a\n  status: \xff\n")
    with pytest.raises(FormatError, match=r"sessions\.yaml:3: not UTF-8"):
        RegistryFile(str(path)).read()


# Changing


def test_a_change_keeps_what_was_there_as_a_backup(path: Path) -> None:
    path.chmod(0o604)
    file = RegistryFile(str(path))
    assert file.update(stop) == (SetFields(0, {"status": "stopped"}),)
    assert path.read_text() == STOPPED
    assert path.with_name(f"{path.name}.bak").read_text() == TEXT
    assert [each.stat().st_mode & 0o777 for each in (path, path.with_name(f"{path.name}.bak"))] == [0o604] * 2
    assert beside(path) == {f"{path.name}.bak"}
    assert file.read().rows[0].status == "stopped"
    assert file.changed == path.stat().st_mtime


def test_a_copy_that_cannot_be_put_in_its_place_leaves_nothing_behind(path: Path) -> None:
    copy = path.with_name(f"{path.name}.bak")
    copy.mkdir()
    with pytest.raises(RefusedError, match="Is a directory"):
        RegistryFile(str(path)).update(stop)
    assert (path.read_text(), beside(path)) == (TEXT, {copy.name})


def test_nothing_is_written_where_nothing_changes(path: Path) -> None:
    file, before = RegistryFile(str(path)), path.stat()
    assert file.update(lambda _: []) == ()
    assert file.update(lambda _: [SetFields(0, {"status": "running"})]) == ()
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert beside(path) == set()


def test_a_broken_file_is_told_with_its_line_and_left_untouched(path: Path) -> None:
    broken = TEXT + "version: 1\nversion: 2\n"
    path.write_text(broken)
    before = path.stat()
    file = RegistryFile(str(path))
    for call in (file.read, lambda: file.update(stop)):
        with pytest.raises(FormatError, match=r"midwatch-sessions\.yaml:6: version stands twice"):
            call()
    assert path.read_text() == broken
    assert path.stat().st_ino == before.st_ino
    assert beside(path) == set()


def test_what_others_wrote_since_we_read_is_what_is_decided_on(path: Path) -> None:
    file = RegistryFile(str(path))
    file.read()
    RegistryFile(str(path)).update(lambda _: [AddRow("b", {"status": "running"})])
    assert len(file.update(stop)) == 2


def test_someone_who_writes_without_the_lock_is_not_overwritten(path: Path) -> None:
    asked: list[int] = []

    def decide(found: Registry) -> list[Change]:
        asked.append(len(found.rows))
        if len(asked) == 1:  # an editor saves at this very moment
            path.write_text(TEXT + "  - name: b\n    status: running\n")
        return stop(found)

    assert len(RegistryFile(str(path)).update(decide)) == 2
    assert asked == [1, 2]
    assert [row.status for row in text_of.parse_registry(path.read_text()).rows] == ["stopped", "stopped"]
    assert beside(path) == {f"{path.name}.bak"}


def test_whoever_waits_too_long_for_the_lock_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_store, "PATIENCE", 0.05)
    with open(f"{path}.lock", "w") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        with pytest.raises(RefusedError, match=r"someone has been writing .*; try again, or look who holds .*\.lock"):
            RegistryFile(str(path)).update(stop)
    assert path.read_text() == TEXT
    assert RegistryFile(str(path)).update(stop)


def test_a_link_is_followed_and_stays_a_link(path: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere/agent-sessions.yaml"
    link.symlink_to(path)
    RegistryFile(str(link)).update(stop)
    assert link.is_symlink()
    assert path.read_text() == STOPPED
    assert [each.name for each in link.parent.iterdir()] == [link.name]
    assert beside(path) == {f"{path.name}.bak", "elsewhere"}


def test_a_new_one_is_made_only_where_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "midwatch-sessions.yaml"
    file = RegistryFile(str(path))
    with pytest.raises(RefusedError, match="No such file"):
        file.update(lambda _: [AddRow("a", {"status": "running"})])
    assert file.update(lambda _: [], create=True) == ()
    assert not path.exists()
    file.update(lambda _: [AddRow("a", {"status": "running"})], create=True)
    assert path.read_text().startswith("# Agent sessions")
    assert path.read_text().endswith("sessions:\n  - name: a\n    status: running\n")
    file.update(lambda _: [AddRow("b", {"status": "running"})], create=True)
    assert [row.name for row in file.read().rows] == ["a", "b"]


def test_what_is_not_ours_to_write_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)
        with pytest.raises(RefusedError, match="not for you to write"):
            RegistryFile(str(path)).update(stop)
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
        with pytest.raises(RefusedError, match="belongs to another user"):
            RegistryFile(str(path)).update(stop)
    assert path.read_text() == TEXT
    assert beside(path) == set()


FULL_DISK = """\
import resource, sys
from midwatch.core.errors import RefusedError
from midwatch.registry.model import SetFields
from midwatch.registry.store import RegistryFile

resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
try:
    RegistryFile(sys.argv[1]).update(lambda _: [SetFields(0, {"status": "stopped"})])
except RefusedError as error:
    print(error)
"""


def test_a_full_disk_leaves_everything_as_it_was(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"cannot write {path}: ")
    assert path.read_text() == TEXT
    assert beside(path) == set()
