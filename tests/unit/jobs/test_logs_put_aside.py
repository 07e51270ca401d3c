"""Readers of a log that is put aside while they read it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from midwatch.jobs.log_scan import LogReader, LogScan, read_tail
from midwatch.tmux.pane_log_filter import PaneLog


@pytest.fixture
def log(tmp_path: Path) -> PaneLog:
    (tmp_path / "api.log").touch()
    return PaneLog(str(tmp_path / "api.log"), limit=40)


def rest(reader: LogReader) -> bytes:
    found = b""
    while data := reader.read(7):
        found += data
    return found


def numbered(first: int, last: int) -> bytes:
    return b"".join(b"line %04d\n" % number for number in range(first, last))


def write(log: PaneLog, first: int, last: int) -> None:
    for number in range(first, last):
        log.append(f"line {number:04}\n")


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
def test_each_line_is_read_once_though_the_log_is_put_aside(log: PaneLog, step: int) -> None:
    reader, found = LogReader(log.path, whole=True), b""
    for number in range(0, 60, step):
        write(log, number, number + step)
        found += rest(reader)
        reader.pause()
    assert found == numbered(0, -(-60 // step) * step)


def test_what_was_put_aside_is_read_first(log: PaneLog) -> None:
    write(log, 0, 6)
    assert rest(LogReader(log.path, whole=True)) == numbered(0, 6)
    assert rest(LogReader(log.path, whole=False)) == numbered(4, 6)


def test_who_comes_too_late_reads_what_there_is(log: PaneLog) -> None:
    reader = LogReader(log.path, whole=True)
    write(log, 0, 2)
    assert rest(reader) == numbered(0, 2)
    write(log, 2, 14)
    assert rest(reader) == numbered(2, 4) + numbered(8, 14)


def test_a_log_of_the_next_run_is_not_taken_for_the_rest(log: PaneLog) -> None:
    reader = LogReader(log.path, whole=True)
    write(log, 0, 2)
    assert rest(reader) == numbered(0, 2)
    os.rename(log.path, f"{log.path}.archived")
    Path(log.path).write_bytes(b"of another run\n")
    write(log, 2, 3)
    assert rest(reader) == numbered(2, 3)


@pytest.mark.parametrize("count", range(9))
def test_the_last_lines_are_taken_from_both(log: PaneLog, count: int) -> None:
    write(log, 0, 6)
    reader = LogReader(log.path, whole=True)
    reader.skip(count)
    assert rest(reader) == numbered(max(0, 6 - count), 6)


def test_the_end_of_a_log_is_taken_from_both(log: PaneLog) -> None:
    write(log, 0, 6)
    assert read_tail(log.path, 35) == numbered(0, 6)[-35:]
    assert read_tail(log.path, 1000) == numbered(0, 6)


def test_a_line_is_found_once_wherever_it_is(log: PaneLog) -> None:
    scan = LogScan(log.path, re.compile("000[28]"), whole=True)
    write(log, 0, 6)
    found = [scan.find(), scan.find()]
    write(log, 6, 10)
    while scan.behind:
        found.append(scan.find())
    assert [line.raw for line in [*found, scan.find(), scan.find()] if line] == ["line 0002", "line 0008"]


def test_old_logs_beside_the_output_of_adopted_work_are_not_searched(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text("ready\n")
    (tmp_path / "server.log.1").write_text("panic of yesterday\n")
    scan = LogScan(str(tmp_path / "server.log"), re.compile("panic"), whole=False)
    assert (scan.find(), scan.find()) == (None, None)
