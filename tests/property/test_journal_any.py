"""A journal in which any byte was changed: it answers, or it is put aside and what the spools hold is told."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from midwatch.config import paths
from midwatch.journal import codec as journal_codec
from midwatch.journal import journal
from midwatch.journal.journal import Journal
from midwatch.system import atomic_files

VERSION_BYTE = 63
"""The last of the number that says which release made it: a higher one is refused, as a newer release's must be."""
WRITE_FORMAT = 18
"""Where the header says which format is written: 1 or 2. SQLite only reads a file with a higher number there."""
OFFSETS = st.one_of(
    st.integers(0, 99),  # the header
    st.integers(3500, 4095),  # the schema, at the end of the first page
    st.integers(0, 1 << 20),
)


class Kept:
    """Files of a journal as they stood at one moment, with the spool of a run that goes on."""

    def __init__(self, path: Path) -> None:
        self.dir = path / "jobs"
        paths.prepare_directory(str(self.dir))
        self.spool("gone", "r1", *range(1, 20), last="ended")
        self.spool("job", "r2", *range(1, 8))
        journal.record_event(str(self.dir), "job", "", "breaker reset", reason="")
        self.files = {"journal.sqlite": (self.dir / "journal.sqlite").read_bytes()}
        with contextlib.closing(Journal(str(self.dir))) as book:
            book.take_in()
            book.add(journal_codec.uncounted_event("", 1.0, "job", "noted", {}))
            self.logged = {file.name: file.read_bytes() for file in self.dir.glob("journal.sqlite*")}

    def spool(self, name: str, run: str, *numbers: int, last: str = "moved") -> None:
        for n in numbers:
            event = last if n == numbers[-1] else "moved"
            line = {"schema": 1, "run": run, "n": n, "at": 1000.0 + n, "name": name, "event": event, "reason": "x"}
            atomic_files.append(f"{self.dir}/spool/{name}.{run}.jsonl", atomic_files.dumps(line) + "\n")

    def restore(self, files: dict[str, bytes]) -> None:
        for file in self.dir.glob("journal.sqlite*"):
            file.unlink()
        for name, data in files.items():
            (self.dir / name).write_bytes(data)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("kept"))


def asked(directory: Path) -> tuple[list[int | None], list[str]]:
    """Ask a journal everything, as faces do, and add to it. The numbers of the run that goes on, and what was said."""
    said: list[str] = []
    with contextlib.closing(Journal(str(directory), say=said.append)) as book:
        book.take_in()
        for event in (*book.after(0, most=1 << 30), *book.last(5)):
            journal_codec.encode_event(event)
            journal_codec.format_event(event.event, journal_codec.event_body(event))
            time.localtime(event.at)
        assert book.newest() >= 0
        book.runs("job")
        book.add(journal_codec.uncounted_event("", 1.0, "job", "noted", {}))
        return [event.n for event in book.of_run("job", "r2")], said


def changed(data: bytes, offset: int, value: int) -> bytes:
    offset %= len(data)
    return data[:offset] + bytes([value]) + data[offset + 1 :]


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(offset=OFFSETS, value=st.one_of(st.just(0xFF), st.integers(0, 255)))
def test_any_byte_of_the_file(kept: Kept, offset: int, value: int) -> None:
    assume(offset % len(kept.files["journal.sqlite"]) != VERSION_BYTE)
    kept.restore({"journal.sqlite": changed(kept.files["journal.sqlite"], offset, value)})
    numbers, said = asked(kept.dir)
    assert bool(said) == any(kept.dir.glob("journal.sqlite.bad-*"))
    if said:
        assert numbers == [*range(1, 8)]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(offset=st.integers(0, 1 << 20), value=st.integers(0, 255), which=st.sampled_from(["-wal", "-shm"]))
def test_any_byte_of_the_files_beside_it(kept: Kept, offset: int, value: int, which: str) -> None:
    name = f"journal.sqlite{which}"
    kept.restore({**kept.logged, name: changed(kept.logged[name], offset, value)})
    assert asked(kept.dir)[0] == [*range(1, 8)]


@pytest.mark.parametrize("word", [b"events", b"name TEXT", b"body", b"CREATE INDEX", b"spools", b"inode"])
def test_a_byte_of_the_schema_that_is_not_utf_8(kept: Kept, word: bytes) -> None:
    data = kept.files["journal.sqlite"]
    kept.restore({"journal.sqlite": data.replace(word, b"\xff" + word[1:])})
    numbers, said = asked(kept.dir)
    assert (numbers, len(said)) == ([*range(1, 8)], 1)
    assert "was damaged" in said[0]
    assert asked(kept.dir) == (numbers, [])


@pytest.mark.parametrize("value", [3, 255])
def test_a_header_that_forbids_writing_is_damage_and_no_disk_that_is_read_only(kept: Kept, value: int) -> None:
    kept.restore({"journal.sqlite": changed(kept.files["journal.sqlite"], WRITE_FORMAT, value)})
    numbers, said = asked(kept.dir)
    assert (numbers, len(said)) == ([*range(1, 8)], 1)


def test_a_copy_of_what_cannot_be_written_is_read_as_far_as_it_can_be(kept: Kept, tmp_path: Path) -> None:
    data = kept.files["journal.sqlite"]
    kept.restore({"journal.sqlite": data.replace(b"events", b"\xffvents")})
    shutil.copytree(kept.dir, tmp_path / "copy")
    before = sorted(os.listdir(tmp_path / "copy"))
    with contextlib.closing(Journal(str(tmp_path / "copy"))) as book, contextlib.closing(book.copied()) as copy:
        assert [event.n for event in copy.of_run("job", "r2")] == [*range(1, 8)]
    assert [file for file in sorted(os.listdir(tmp_path / "copy")) if "-" not in file] == before
