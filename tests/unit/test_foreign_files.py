"""Files that others write: pipes, devices, files without end and text without end raise what is documented."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from midwatch.agents import catalog, file_head_cache, installed_version, state_file_reader, transcript_follower
from midwatch.agents.claude.transcript import Claude
from midwatch.agents.hooks import events
from midwatch.agents.hooks import spool as hook_files
from midwatch.agents.transcripts import line_splitter
from midwatch.compat.story_automator import story_verification
from midwatch.config import load as settings_file
from midwatch.config import paths, sentinel_files, trust
from midwatch.config.codec import settings_file as config_settings_file
from midwatch.core.errors import FormatError, MidwatchError
from midwatch.jobs import listing_cache
from midwatch.mail import codec as mail_codec
from midwatch.preflight import virtualenv_reader
from midwatch.preflight.codec import dependencies, virtualenv
from midwatch.registry import reconcile_state_store as reports
from midwatch.registry import store as registry_store
from midwatch.registry.codec import reconcile_state
from midwatch.shim import beat_file
from midwatch.swarm import watchdog_store
from midwatch.system import atomic_files
from midwatch.taskdir import observe as taskdir_observe
from midwatch.trackers import builtin
from midwatch.trackers.beads import BeadsTracker
from midwatch.trackers.bmad import BmadTracker
from midwatch.trackers.codec import beads, bmad
from midwatch.trackers.model import TrackerError
from midwatch.verification import checks
from midwatch.verification.model import VerificationCheck
from midwatch.yamledit import parse

TRAPS = ("pipe", "device", "socket", "directory", "sparse")
ENDLESS = 1 << 40
"""Bytes of a file that takes no space and would take hours to read."""


def trap(path: Path, kind: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "socket":
        import socket  # noqa: PLC0415

        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    elif kind == "directory":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(ENDLESS)


def failed(read: Callable[[], object]) -> str:
    """Of a documented error its words; what else is raised fails the test."""
    try:
        return repr(read())
    except (MidwatchError, OSError) as error:
        return f"error: {error}"


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "read_plain": ("a", lambda path: atomic_files.read_plain(str(path), 1000)),
    "a link": ("a", lambda path: atomic_files.read_plain(str(path), 1000, follow=True)),
    "sentinels": ("job.json", lambda path: sentinel_files.read(str(path))),
    "issues.jsonl": (".beads/issues.jsonl", lambda path: BeadsTracker(str(path.parent)).read()),
    "sprint-status.yaml": ("sprint-status.yaml", lambda path: BmadTracker(str(path)).read()),
    "our tasks": ("tasks.jsonl", lambda path: builtin.BuiltinTracker(str(path)).read()),
    "midwatch.toml": ("midwatch.toml", lambda path: settings_file.read_file(str(path))),
    "an agent's TOML": ("x.toml", lambda path: catalog._read_text(str(path))),
    "registry": ("agent-sessions.yaml", lambda path: registry_store.RegistryFile(str(path)).read()),
    "task directory": ("manifest", lambda path: taskdir_observe.read_text(str(path))),
    "state file": ("1.json", lambda path: atomic_files.read_plain(str(path), state_file_reader.LARGEST)),
}
SILENT: dict[str, tuple[str, Callable[[Path], object], object]] = {
    "a worktree's .git": (".git", lambda path: paths.main_worktree(str(path.parent)), None),
    "pyproject.toml": ("pyproject.toml", lambda path: virtualenv_reader.find_origin(str(path.parent)).pyproject, ""),
    "RECORD": ("RECORD", lambda path: virtualenv_reader._record_path(str(path.parent)), ""),
    "package.json": ("package.json", lambda path: installed_version._find_package(str(path)), ""),
    "notes of a monitor": ("x.state", lambda path: reports.read_state(str(path)), reconcile_state.ReconcileRecord()),
    "watchdog": ("w.json", lambda path: watchdog_store.read_status(str(path).removesuffix(".json")), None),
    "listing": (listing_cache.FILE, lambda path: listing_cache.load_rows(str(path.parent)), {}),
    "small JSON": ("a.json", lambda path: file_head_cache.FileHeadCache().data(str(path)), None),
    "story file": ("1-1-a.md", lambda path: story_verification._read_text(str(path)), None),
}


@pytest.mark.parametrize("kind", TRAPS)
@pytest.mark.parametrize("reader", READERS)
def test_a_trap_in_the_place_of_a_file_is_an_error(tmp_path: Path, reader: str, kind: str) -> None:
    name, read = READERS[reader]
    path = tmp_path / "project" / name
    trap(path, kind)
    said = failed(lambda: read(path))
    assert said.startswith("error: ")
    if kind == "sparse":
        assert "larger than" in said


@pytest.mark.parametrize("kind", TRAPS)
@pytest.mark.parametrize("reader", SILENT)
def test_a_trap_in_the_place_of_a_file_counts_as_none(tmp_path: Path, reader: str, kind: str) -> None:
    name, read, nothing = SILENT[reader]
    path = tmp_path / "project" / name
    trap(path, kind)
    assert read(path) == (nothing if reader != "a worktree's .git" else str(tmp_path / "project"))


@pytest.mark.parametrize("kind", TRAPS)
def test_a_trap_in_the_place_of_a_record_hears_no_beat(tmp_path: Path, kind: str) -> None:
    trap(tmp_path / "job.json", kind)
    with pytest.raises(LookupError, match="there is no job 'job'"):
        beat_file._beat_path(str(tmp_path), "job", None)


@pytest.mark.parametrize("kind", TRAPS)
def test_a_trap_in_the_place_of_the_list_of_trusted_files_is_refused(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trust, "_list_path", lambda: str(tmp_path / "trusted"))
    trap(tmp_path / "trusted", kind)
    assert failed(trust.list_entries).startswith("error: ")


@pytest.mark.parametrize("kind", TRAPS)
def test_what_cannot_be_read_is_not_verified(tmp_path: Path, kind: str) -> None:
    trap(tmp_path / beads.PLACE, kind)
    found = checks.run_check(VerificationCheck("bead", "bd-1", "closed"), str(tmp_path), None)
    assert (found.done, "cannot be read" in found.reason) == (False, True)


def test_a_file_that_grows_while_it_is_read_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 1000)
    assert atomic_files.read_plain(str(path), 1000) == b"x" * 1000
    with pytest.raises(OSError, match="it is larger than 0 kB"):
        atomic_files.read_plain(str(path), 999)
    with open("/dev/zero", "rb") as file, pytest.raises(OSError, match="it is larger than 1 MB"):
        atomic_files.read_all(file.fileno(), 1 << 20)  # it says that it has no size, and has no end


class Growing(Claude):
    """As if its agent wrote a line whenever one is read."""

    path = Path()

    def take(self, line: bytes) -> None:
        super().take(line)
        with self.path.open("ab") as file:
            file.write(b"{}\n")


def test_a_transcript_that_grows_as_it_is_read_is_read_to_where_it_ended(tmp_path: Path) -> None:
    Growing.path = tmp_path / "t.jsonl"
    Growing.path.write_bytes(b"{}\n" * 10)
    tail = transcript_follower.TranscriptTail(str(Growing.path), Growing)
    assert [tail.observe(), tail.observe()] == [30, 60]
    assert tail.story.understood == 20


def test_a_transcript_that_has_grown_beyond_measure_is_read_from_near_its_end(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"a": 1}\n')
    tail = transcript_follower.TranscriptTail(str(path), Claude)
    assert tail.observe() == 9
    with path.open("r+b") as file:
        file.truncate(ENDLESS)
        file.seek(0, os.SEEK_END)
        file.write(b'\n{"b": 2}\n')
    assert tail.observe() == ENDLESS + 10
    assert (tail.story.understood, tail.story.whole) == (2, False)


# Text --------------------------------------------------------------------------------------------------------------

DEEP = '{"a":' * 100_000


@pytest.mark.parametrize(
    "read",
    [
        lambda: reconcile_state.decode_state(DEEP),
        lambda: mail_codec._parse_field(f'subject: "{"[" * 10}'),
        lambda: beads.parse_work(DEEP, "x"),
        lambda: Claude().take(DEEP.encode()),
        lambda: events.parse_payload(DEEP, DEEP),
        lambda: config_settings_file.read("a = " + "[" * 100_000, "x"),
        lambda: config_settings_file.read("a" + ".a" * 100_000 + " = 1", "x"),
        lambda: config_settings_file.read("a = " + "1" * 100_000, "x"),
        lambda: dependencies.parse_pyproject("a = " + "1" * 100_000),
        lambda: virtualenv.parse_redirects("MAPPING = " + "(" * 100_000),
        lambda: virtualenv.parse_redirects("MAPPING = {[]: 1}"),
        lambda: parse.parse_document("[" * 100_000),
        lambda: parse.parse_document("- " * 100_000),
        lambda: parse.parse_document("a: " + "1" * 100_000),
    ],
)
def test_text_without_end_raises_nothing_that_is_not_documented(read: Callable[[], object]) -> None:
    failed(read)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1" + ":1" * 1_000_000, "looks like a int and is none"),
        ("".join([f"%TAG !a{number}! !b\n" for number in range(200_000)]) + "--- a\n", "lines begin with %"),
        ("a: !!pairs [b: 1]\n", "only plain lists and tables are read"),
        ("a: !!set {b, c}\n", "only plain lists and tables are read"),
    ],
    ids=["base 60", "directives", "pairs", "set"],
)
def test_yaml_that_would_take_hours_is_refused(text: str, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        parse.parse_document(text)


def test_a_row_of_a_sprint_file_is_read_once_however_long_it_is() -> None:
    assert bmad.parse_statuses("1-1-a: b" + " " * 1_000_000 + "x # done") == {"1-1-a": "b" + " " * 1_000_000 + "x"}
    assert bmad.parse_statuses("a:\tb\n'c d' :  e f  #g\nh: #\ni:\n  \"j\": 'K'") == {"c d": "e f", "j": "k"}


def chained(count: int) -> str:
    return "\n".join([json.dumps({"id": f"b{number}", "parent": f"b{number + 1}"}) for number in range(count)])


def crowd(count: int) -> str:
    epic = {"id": "e", "dependencies": [{"depends_on_id": f"n{number}"} for number in range(count)]}
    return "\n".join([json.dumps(epic), *[json.dumps({"id": f"{n}", "parent": "e"}) for n in range(count)]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (chained(20_000), "lies more than 50 epics deep"),
        (crowd(2000), "more than 1,000,000 dependencies"),
        ("\n" * 100_001, "more than 100,000 lines"),
    ],
    ids=["a chain", "a crowd", "lines"],
)
def test_tasks_beyond_measure_are_an_error(text: str, said: str) -> None:
    with pytest.raises(TrackerError, match=said):
        beads.parse_work(text, "x")


def test_epics_within_epics_hand_down_what_they_need() -> None:
    work = beads.parse_work(chained(50) + '\n{"id": "b50", "dependencies": [{"depends_on_id": "z"}]}\n', "x")
    assert {task.needs for task in work.tasks.values()} == {("z",)}


def test_extras_that_take_in_each_other_are_gone_through_once() -> None:
    rows = [f'e{n} = ["p[e{n + 1},e{n + 2},e0]", "x{n}"]' for n in range(100)]
    text = '[project]\nname = "p"\n[project.optional-dependencies]\n' + "\n".join(rows)
    assert dependencies.parse_pyproject(text).extras["e0"] == {f"x{number}" for number in range(100)}
    rows = [f'e{n} = [{{include-group = "e{n + 1}"}}, {{include-group = "e{n + 2}"}}, "x{n}"]' for n in range(100)]
    found = dependencies.parse_pyproject("[dependency-groups]\n" + "\n".join(rows))
    assert found.groups["e0"] == {f"x{number}" for number in range(100)}


def test_a_line_without_end_is_dropped() -> None:
    kept = line_splitter.LineSplitter()
    assert kept.feed(b"x" * (line_splitter.LONGEST + 1)) == []
    assert kept.feed(b"x\nshort\n") == [b"short"]


def test_of_a_spool_that_is_too_large_the_end_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_files, "LARGEST", 100)
    line = '1\tclaude\t%1\t/tmp/x,1,1\t12\tb\t1.0\t\t{"hook_event_name": "Stop"}'
    path = tmp_path / "a"
    path.write_text(f"{line}\n" * 2 + line.replace("Stop", "Last") + "\n")
    spool = hook_files._PaneSpool(str(path))
    assert [event.name for event in spool.read(deep=True)] == ["Last"]
