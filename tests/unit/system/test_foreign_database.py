"""A database that another wrote may hold any schema: it is read within limits, or not at all."""

from __future__ import annotations

import gc
import os
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from midwatch.system import foreign_database
from midwatch.system.foreign_database import DatabaseLimits, LimitError, Row
from tests.conftest import PATIENCE

LIMITS = DatabaseLimits(seconds=PATIENCE, rows=1000, size=1 << 21, value=1 << 20, patience=0.1)
ENDLESS = "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n WHERE id < 0"
FOR_EVER = "SELECT count(*) FROM t AS a, t AS b, t AS c, t AS d, t AS e"


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "a.db")


def made(path: str, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)


def rows(path: str, query: str = "SELECT * FROM t", limits: DatabaseLimits = LIMITS) -> list[Row]:
    return foreign_database.read_tables(path, ("t",), limits, lambda database: database.rows(query))[1]


def test_a_plain_table_is_read(path: str) -> None:
    made(path, "CREATE TABLE T (ID, b TEXT)", "INSERT INTO t VALUES (1, 'x'), (2, CAST(x'ff' AS TEXT))")
    assert rows(path) == [{"id": 1, "b": "x"}, {"id": 2, "b": "\ufffd"}]
    assert rows(path, "SELECT count(*) AS many FROM t") == [{"many": 2}]


@pytest.mark.parametrize(
    "schema",
    [
        [f"CREATE VIEW t AS {ENDLESS}"],
        ["CREATE TABLE other (id)", "CREATE VIEW t AS SELECT id FROM other"],
        ["CREATE VIRTUAL TABLE t USING fts5(id)"],
    ],
    ids=["an endless view", "a view", "a virtual table"],
)
def test_what_is_no_plain_table_is_not_read(path: str, schema: list[str]) -> None:
    made(path, *schema)
    with pytest.raises(sqlite3.Error, match="t is not a plain table"):
        rows(path)


def test_a_schema_that_lies_about_what_a_view_is_reads_nothing(path: str) -> None:
    made(
        path, "CREATE TABLE t (id)", "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = 'CREATE TABLE t (id)', name = 'u', tbl_name = 'u' WHERE name = 't'",
        f"INSERT INTO sqlite_master SELECT 'table', 'x', 'x', 0, 'CREATE VIEW t AS {ENDLESS}'",
    )  # fmt: skip
    with pytest.raises(sqlite3.Error):
        rows(path)


@pytest.mark.parametrize(
    "query",
    [
        ENDLESS, "SELECT * FROM other", "SELECT hex(id) FROM t", "INSERT INTO t VALUES (2)", "DELETE FROM t",
        "PRAGMA journal_mode = DELETE", "ATTACH '/tmp/x' AS x", "SELECT * FROM sqlite_master",
    ],
)  # fmt: skip
def test_nothing_is_done_but_reading_the_tables_named(path: str, query: str) -> None:
    made(path, "CREATE TABLE t (id)", "INSERT INTO t VALUES (1)", "CREATE TABLE other (id)")
    with pytest.raises(sqlite3.DatabaseError, match=r"not authorized|prohibited"):
        rows(path, query)
    assert rows(path) == [{"id": 1}]


def test_a_view_that_takes_the_place_of_a_table_after_the_check_is_refused(path: str) -> None:
    made(path, "CREATE TABLE t (id)", "INSERT INTO t VALUES (1)", "CREATE VIEW v AS SELECT id FROM t")
    with pytest.raises(sqlite3.DatabaseError, match="prohibited"):
        rows(path, "SELECT id FROM v")


def test_a_computed_column_is_not_read_and_a_stored_one_is(path: str) -> None:
    made(path, "CREATE TABLE t (id, b AS (id LIKE '%a%b%c%d%'))")
    with pytest.raises(sqlite3.Error, match="column 'b' of t is computed"):
        rows(path, "SELECT id FROM t")
    made(path, "DROP TABLE t", "CREATE TABLE t (id, b AS (id + 1) STORED)", "INSERT INTO t VALUES (1)")
    assert rows(path) == [{"id": 1, "b": 2}]


@pytest.mark.parametrize(
    ("fill", "said"),
    [
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001) SELECT i FROM n",
         "more than 1,000 rows"),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4) SELECT zeroblob(900000) FROM n",
         "more than 2 MB of values"),
        ("SELECT zeroblob(2000000)", "a value of more than 1 MB"),
    ],
    ids=["rows", "size", "value"],
)  # fmt: skip
def test_more_than_may_be_read_is_an_error_and_no_shorter_list(path: str, fill: str, said: str) -> None:
    made(path, "CREATE TABLE t (id)", f"INSERT INTO t {fill}")
    with pytest.raises(LimitError, match=said):
        rows(path)


def many(path: str) -> None:
    """A table whose fifth power has no end that anybody lives to see."""
    made(path, "CREATE TABLE t (id)")
    with closing(sqlite3.connect(path)) as database:
        database.executemany("INSERT INTO t VALUES (?)", [(number,) for number in range(10_000)])
        database.commit()


def test_a_query_that_does_not_end_is_ended_at_its_deadline(path: str) -> None:
    many(path)
    with pytest.raises(LimitError, match=r"it takes longer than 0\.1s"):
        rows(path, FOR_EVER, LIMITS._replace(seconds=0.1))


def test_a_deadline_that_has_passed_is_the_end_of_every_further_query(path: str) -> None:
    many(path)
    with pytest.raises(LimitError, match="it takes longer"):
        rows(path, "SELECT id FROM t LIMIT 1", LIMITS._replace(seconds=0.0))


class Clock:
    """Stands still until the query has run for a while; then a signal comes, and later the deadline."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        if self.looks == 50:
            os.kill(os.getpid(), self.number)
        return 0.0 if self.looks < 100 else 2 * PATIENCE


def test_signals_are_heard_while_a_query_runs(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    many(path)
    clock, heard = Clock(signal.SIGTERM), []
    monkeypatch.setattr(time, "monotonic", clock)
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append(clock.looks))
    try:
        with pytest.raises(LimitError):
            rows(path, FOR_EVER)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [50]


def test_ctrl_c_ends_a_query(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    many(path)
    monkeypatch.setattr(time, "monotonic", Clock(signal.SIGINT))
    gc.disable()  # hypothesis times collections in a callback, and an exception that is raised in there gets lost
    try:
        with pytest.raises(KeyboardInterrupt):
            rows(path, FOR_EVER)
    finally:
        gc.enable()


@pytest.mark.parametrize("beside", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_pipe_beside_a_database_is_not_waited_for(path: str, beside: str, mode: str) -> None:
    made(path, f"PRAGMA journal_mode = {mode}", "CREATE TABLE t (id)")
    os.mkfifo(path + beside)
    with pytest.raises(sqlite3.Error, match=f"its {beside} is not a regular file"):
        rows(path)


def test_a_log_that_takes_too_long_to_go_through_is_not_opened(path: str) -> None:
    made(path, "PRAGMA journal_mode = wal", "CREATE TABLE t (id)")
    for beside in ("-wal", "-shm"):
        with open(path + beside, "wb") as file:
            file.truncate(foreign_database.LARGEST_LOG + 1 if beside == "-wal" else 0)
    with pytest.raises(LimitError, match="its -wal is larger than 1024 MB"):
        rows(path)
