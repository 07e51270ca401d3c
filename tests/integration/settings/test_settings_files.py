"""The two files on disk: where they are looked for, what is read of them, what nobody pays for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from midwatch.config import load as config_load
from midwatch.config.model import Settings
from midwatch.core.errors import FormatError
from tests.conftest import Box


class Places:
    """A project and a configuration directory."""

    def __init__(self, root: Path) -> None:
        self.project = root / "project"
        self.user = root / "config" / "midwatch" / "config.toml"
        self.own = self.project / "midwatch.toml"
        self.project.mkdir()
        self.user.parent.mkdir(parents=True)

    def load(self) -> Settings:
        return config_load.load(str(self.project))


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return Places(tmp_path)


def test_without_files_our_own_settings_hold(places: Places) -> None:
    assert places.load() == Settings()


def test_both_files_are_read_and_named(places: Places) -> None:
    places.user.write_text("[run]\nretries = 3\nbackoff = 9\n")
    places.own.write_text("[run]\nretries = 1\n")
    found = places.load()
    assert (found.retries, found.backoff_s) == (1, 9.0)
    assert found.files == (str(places.user), str(places.own))


def test_a_check_names_its_file_and_line(places: Places) -> None:
    places.own.write_text('\n\n[[check]]\nenv = "A"\n')
    assert places.load().checks[0].source == f"{places.own}:3"


@pytest.mark.parametrize("file", ["user", "own"])
def test_a_relative_environment_is_meant_from_the_projects_root(places: Places, file: str) -> None:
    text = '[[check]]\nmodule = "m"\nvenv = "env"\n[[check]]\nvenv = "env"\n[[check]]\nmodule = "m"\n'
    getattr(places, file).write_text(text + '[[check]]\nvenv = "/opt/env"\n')
    first, second, third, fourth = places.load().checks
    assert (first.venv, second.target) == (f"{places.project}/env", f"{places.project}/env")
    assert (second.name, third.venv, fourth.target) == ("venv env", "", "/opt/env")


def make_unreadable(path: Path, how: str) -> None:
    if how == "a directory":
        path.mkdir()
    elif how == "a pipe":
        os.mkfifo(path)
    elif how == "a circle":
        path.symlink_to(path)
    else:
        path.write_bytes({"no UTF-8": b"# \xff\n", "endless": b"#" * (config_load.LARGEST + 1)}[how])


@pytest.mark.parametrize("how", ["a directory", "a pipe", "a circle", "no UTF-8", "endless"])
@pytest.mark.parametrize("file", ["user", "own"])
def test_what_is_no_settings_file_is_an_error_with_its_path(places: Places, file: str, how: str) -> None:
    path: Path = getattr(places, file)
    make_unreadable(path, how)
    with pytest.raises(FormatError) as error:
        places.load()
    assert str(error.value).startswith(f"{path}:1: ")
    assert ";" in str(error.value)


def test_the_largest_file_is_read_whole(places: Places) -> None:
    end = b"\n[run]\nretries = 7\n"
    places.own.write_bytes(b"#" * (config_load.LARGEST - len(end)) + end)
    assert places.load().retries == 7


def test_where_there_is_no_file_nothing_is_imported_for_it(box: Box) -> None:
    box.program[1:1] = ["-X", "importtime"]
    done = box("run", "--", "true")
    assert done.code == 0, done
    assert "midwatch.config.load" in done.err
    assert "tomllib" not in done.err
    assert "midwatch.config.codec.settings_file" not in done.err


def test_the_file_of_the_nearest_project_above_counts(box: Box) -> None:
    (box.cwd / "midwatch.toml").write_text("[policy]\nstale = 77\n")
    box.cwd = box.cwd / "below"
    box.cwd.mkdir()
    assert box("run", "--name", "a", "--", "true").code == 0
    (box.cwd / ".git").mkdir()
    assert box("run", "--name", "b", "--", "true").code == 0
    assert (box.record("a")["policy"]["stale_s"], box.record("b")["policy"]["stale_s"]) == (77.0, 600.0)
