"""What `ls` remembers of ended jobs. It must say the same with and without it, whatever happened to the files."""

from __future__ import annotations

import json
import os
import random
import signal
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from midwatch.cli import output
from midwatch.config import sentinel_files
from midwatch.core.job_model import JobFacts
from midwatch.core.policy import PATIENT
from midwatch.jobs import listing_cache, name_claim
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.listing import WORTH, list_verdicts
from tests.conftest import Box, kill, until, until_gone
from tests.integration.wait.watching import start

JOBS = WORTH + 10


@pytest.fixture
def many(box: Box) -> Box:
    """A directory of ours with jobs that have ended: one real job, and as many more with files like its own."""
    start(box, "job-000", "sh", "-c", "echo hello; echo '{\"pages\": 12}' > $MIDWATCH_DIR/$MIDWATCH_NAME.result")
    assert box("wait", "job-000").code == 0
    first = sorted(box.dir.glob("job-000.*"))
    record = box.record("job-000")
    for number in range(1, JOBS):
        name = f"job-{number:03d}"
        for path in first:
            text = path.read_text()
            if path.suffix == ".json":
                text = json.dumps({**record, "name": name, "run": f"{number:x}-abcdef"})
            (box.dir / f"{name}{path.suffix}").write_text(text)
    return box


def kept(box: Box) -> Path:
    return box.path(listing_cache.FILE)


def until_kept(box: Box) -> None:
    """Wait until the files are old enough for a listing to be remembered."""

    def there() -> bool:
        return box("ls").code == 0 and kept(box).exists()

    until(there)


def both(box: Box) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What `ls` says with what it remembers, and without."""
    told = [[json.loads(line) for line in box("ls", "--json").out.splitlines()]]
    kept(box).unlink(missing_ok=True)
    told.append([json.loads(line) for line in box("ls", "--json").out.splitlines()])
    return timeless(told[0]), timeless(told[1])


def timeless(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without how long it has been going on, where no record says that it ended: that differs at each look."""
    for row in rows:
        if not row["reason"].startswith("exit "):
            row |= {"elapsed_s": None, "reason": row["reason"] if row["final"] else ""}
    return rows


def forge(box: Box) -> None:
    """Write a lie into what is remembered, and make it whole again."""
    head, _, rows = kept(box).read_text().partition("\n")
    lie = rows.replace("exit 0 after", "all is well after")
    assert lie != rows
    kept(box).write_text(f"{head[:-8]}{zlib.crc32(lie.encode()):08x}\n{lie}")


def linked(path: Path, target: str) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def instead(path: Path, make: Callable[[Path], None]) -> None:
    path.unlink()
    make(path)


def test_a_thousand_ended_jobs_are_remembered_in_a_file_of_ones_own(many: Box) -> None:
    until_kept(many)
    assert oct(kept(many).stat().st_mode & 0o777) == "0o600"
    with_it, without = both(many)
    assert with_it == without
    assert [row["state"] for row in with_it] == ["completed"] * JOBS


def test_what_is_remembered_is_what_is_said(many: Box) -> None:
    """Or the tests that follow would show nothing."""
    until_kept(many)
    forge(many)
    assert "all is well" in many("ls").out


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.chmod(0o666),
        lambda path: path.write_text(path.read_text()[:-40]),
        lambda path: path.write_text(path.read_text().replace("all is well", "all is fine")),
        lambda path: path.write_bytes(os.urandom(2000)),
        lambda path: path.write_text(""),
        lambda path: path.write_text(path.read_text().replace("listing 1", "listing 2", 1)),
        lambda path: path.write_text(path.read_text().replace("midwatch 0", "midwatch 99", 1)),
        lambda path: linked(path, str(path.rename(path.with_name("elsewhere")))),
        lambda path: instead(path, Path.mkdir),
        lambda path: instead(path, os.mkfifo),
    ],
    ids=["others-may-write", "cut", "altered", "noise", "empty", "later", "upgraded", "link", "directory", "pipe"],
)
def test_a_listing_that_is_not_what_we_wrote_is_ignored(many: Box, spoil: Callable[[Path], object]) -> None:
    until_kept(many)
    forge(many)
    spoil(kept(many))
    done = many("ls", "--json")
    assert done.code == 0
    assert "all is well" not in done.out
    assert "Traceback" not in done.err


def test_a_directory_that_others_may_write_to_is_not_believed_and_nothing_is_kept_in_it(many: Box) -> None:
    until_kept(many)
    forge(many)
    many.dir.chmod(0o777)
    assert "all is well" not in many("ls", "--json").out
    kept(many).unlink()
    assert many("ls").code == 0
    assert not kept(many).exists()


def test_nothing_is_kept_in_a_directory_that_a_script_made(box: Box) -> None:
    box.dir.mkdir(mode=0o700)
    for number in range(JOBS):
        box.path(f"step-{number}.status").write_text("SUCCESS\n")
    assert not listing_cache.is_cache_allowed(str(box.dir))
    assert len(box("ls", "--json").out.splitlines()) == JOBS
    assert [path.name for path in box.dir.iterdir() if path.suffix != ".status"] == []


def test_a_result_too_large_to_be_kept_twice_is_read_again(many: Box) -> None:
    large = json.dumps({"text": "x" * listing_cache.LARGEST_RESULT})
    many.path("job-007.result").write_text(large)
    until_kept(many)
    assert "xxx" not in kept(many).read_text()
    with_it, without = both(many)
    assert with_it == without
    assert len(with_it[7]["result"]["text"]) == listing_cache.LARGEST_RESULT


def test_what_happens_to_real_jobs_shows_at_once(many: Box) -> None:
    until_kept(many)
    start(many, "job-003", "sh", "-c", "exit 3")
    assert many("wait", "job-003").code == 1
    start(many, "job-004", "sleep", "300")
    many.path("job-005.log").unlink()
    many.path("job-006.json").write_text("{")
    many.path("job-007.result").write_text("not JSON")
    many.path("job-008.status").unlink()
    with_it, without = both(many)
    assert with_it == without
    assert [with_it[number]["state"] for number in (3, 4, 8)] == ["failed", "working", "completed"]
    assert with_it[5]["log"] is None
    assert "not valid JSON" in with_it[7]["reason"]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remember whatever may be remembered; who asks for this waits for a tick of the clock where it matters."""
    monkeypatch.setattr(listing_cache, "SETTLED", -3600.0)
    monkeypatch.setattr("midwatch.jobs.listing.WORTH", 1)


@pytest.mark.usefixtures("at_once")
def test_what_has_not_ended_is_looked_at_each_time(many: Box) -> None:
    """Its end need not change any file."""
    start(many, "live", "sleep", "300")
    looker = Counting(str(many.dir), PATIENT)
    assert {verdict.name: verdict.state for verdict in list_verdicts(looker)}["live"] == "working"
    for pid in many.pids("live"):
        kill(pid, signal.SIGKILL)
        until_gone(pid)
    assert {verdict.name: verdict.state for verdict in list_verdicts(looker)}["live"] == "crashed"


@pytest.mark.parametrize(("changed", "lasts"), [(-60.0, True), (-0.5, False), (3600.0, False)])
def test_a_file_just_written_or_from_the_future_may_change_again_without_a_sign(changed: float, lasts: bool) -> None:
    now = 1_700_000_000.0
    old, young = [1, 9, 0, int((now - 99) * 1e9)], [2, 9, 0, int((now + changed) * 1e9)]
    assert listing_cache.is_stable([old, young, None], now) is lasts


# Anything may happen to files ---------------------------------------------------------------------------------------


def inplace(path: Path, text: str) -> None:
    """Change a file without giving it another inode, and set its time back."""
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(path: Path, text: str) -> None:
    """Rename another file into place, as old as the first by its time."""
    before = path.stat()
    other = path.with_name(".other")
    other.write_text(text)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.rename(path)


def mutate(chance: random.Random, directory: Path, name: str) -> str:
    """Do one thing to the files of a job, of those that a user, a run or a script might do."""
    record, result, log = (directory / f"{name}.{suffix}" for suffix in ("json", "result", "log"))
    failed = record.read_text().replace('"completed"', '"abandoned"') if record.is_file() else "{}"
    things: dict[str, Callable[[], object]] = {
        "record changed in place, time set back": lambda: inplace(record, failed),
        "record replaced by one as old": lambda: replaced(record, failed),
        "record spoiled": lambda: record.write_text("{"),
        "record without an end": lambda: record.write_text(json.dumps({**json.loads(record.read_text()), "end": None})),
        "record removed": record.unlink,
        "record a link": lambda: linked(record, str(record.rename(directory / f".{name}"))),
        "result replaced by one as old": lambda: replaced(result, '{"pages": 13}\n'),
        "result changed in place, time set back": lambda: inplace(result, '{"pages": 14}\n'),
        "result spoiled": lambda: result.write_text("{"),
        "result removed": result.unlink,
        "status removed": (directory / f"{name}.status").unlink,
        "status of another kind": lambda: (directory / f"{name}.status").write_text("FAILED\n"),
        "log removed": log.unlink,
        "log a link to nowhere": lambda: linked(log, "nowhere"),
        "archived": lambda: name_claim.archive_run(str(directory), name),
        "everything removed": lambda: list(map(os.unlink, directory.glob(f"{name}.*"))),
        "nothing": lambda: None,
    }
    for done in chance.sample(list(things), len(things)):
        try:
            things[done]()
        except (OSError, ValueError):
            continue  # it cannot be done to a job in this state
        return f"{name}: {done}"
    return f"{name}: nothing"


def lines(verdicts: list[Any]) -> list[dict[str, Any]]:
    return timeless([json.loads(output.as_json(verdict)) for verdict in verdicts])


class Counting(JobDirectory):
    looks = 0

    def facts(self, name: str, memory: Any = None) -> JobFacts:
        self.looks += 1
        return super().facts(name, memory)


def until_tick(directory: Path) -> None:
    """Wait until the clock of the file system has moved on."""
    probe = directory / ".probe"
    probe.write_text("")
    first = probe.stat().st_ctime_ns

    def ticked() -> bool:
        probe.write_text("")
        return probe.stat().st_ctime_ns > first

    until(ticked)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("seed", range(6))
def test_whatever_happens_to_files_it_says_the_same(many: Box, seed: int) -> None:
    chance = random.Random(seed)
    directory, looker = str(many.dir), Counting(str(many.dir), PATIENT)
    list_verdicts(looker)
    looker.looks = 0
    list_verdicts(looker)
    assert looker.looks == 0, "an ended job was read again although nothing had happened to it"
    for _ in range(60):
        until_tick(many.dir)
        happened = mutate(chance, many.dir, f"job-{chance.randrange(JOBS):03d}")
        with_it = lines(list_verdicts(looker))
        without = lines(
            [JobDirectory(directory, PATIENT).verdict(name) for name in sentinel_files.list_jobs(directory)]
        )
        assert with_it == without, happened
