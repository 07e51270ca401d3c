"""OpenCode's and agy's databases, read while they are written, without a trace."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from midwatch.agents.sqlite_conversations import SqliteConversations
from midwatch.core.pane_model import SourceReport
from midwatch.system import foreign_database
from midwatch.system.foreign_database import DatabaseLimits
from tests.integration.transcripts.conftest import CWD, STARTED, Home

SESSION = "ses_e1f1fc584ffeAiouImLiL66hpn"
OTHER = "ses_e1f1fc584ffeBiouImLiL66hpn"
SCHEMA = """
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, version TEXT NOT NULL,
                      tokens_output INTEGER NOT NULL DEFAULT 0, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER,
                   data TEXT);
CREATE INDEX part_session_idx ON part (session_id);
"""


def ms(seconds: float) -> int:
    return int((STARTED + seconds) * 1000)


class OpenCode:
    """The agent's side: a database in WAL mode, held open."""

    def __init__(self, home: Home) -> None:
        self.path = home.top / ".local/share/opencode/opencode.db"
        self.path.parent.mkdir(parents=True)
        self.db = sqlite3.connect(self.path, isolation_level=None)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.executescript(SCHEMA)

    def session(self, number: str = SESSION, at: float = 10, cwd: str = CWD, parent: str | None = None) -> None:
        row = (number, parent, cwd, "1.18.33", 42, ms(at), ms(at))
        self.db.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def message(self, number: str, at: float, data: dict[str, object], session: str = SESSION) -> None:
        data = {"time": {"created": ms(at)}, **data}
        self.db.execute(
            "INSERT INTO message VALUES (?, ?, ?, ?, ?)", (number, session, ms(at), ms(at), json.dumps(data))
        )

    def part(self, number: str, of: str, at: float, data: object, session: str = SESSION) -> None:
        row = (number, of, session, ms(at), ms(at), data if isinstance(data, str) else json.dumps(data))
        self.db.execute("INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)", row)

    def files(self) -> dict[str, int]:
        return {each.name: each.stat().st_size for each in self.path.parent.iterdir()}


@pytest.fixture
def opencode(home: Home) -> Iterator[OpenCode]:
    agent = OpenCode(home)
    yield agent
    agent.db.close()


def words(report: SourceReport | None) -> dict[str, str]:
    assert report is not None
    assert report.trouble == ""
    return report.words


def test_a_turn_from_prompt_to_end(home: Home, opencode: OpenCode) -> None:
    sense, running = SqliteConversations(), home.running("opencode")
    assert sense.read(running) is None
    opencode.session()
    assert words(sense.read(running))["event"] == ""
    opencode.message("msg_1", 11, {"role": "user"})
    opencode.part("prt_1", "msg_1", 11, {"type": "text", "text": "hello there"})
    assert words(sense.read(running))["event"] == "prompt"
    opencode.message("msg_2", 12, {"role": "assistant"})
    tool = {"type": "tool", "tool": "bash", "callID": "c", "state": {"status": "running", "time": {"start": ms(13)}}}
    opencode.part("prt_2", "msg_2", 13, tool)
    report = sense.read(running)
    assert words(report) == {
        "event": "tool-call",
        "open": "bash",
        "conversation": SESSION,
        "path": str(opencode.path),
        "size": str(ms(13)),
        "tokens": "42",
        "cwd": CWD,
        "version": "1.18.33",
    }
    assert report is not None
    assert (report.source, report.at) == ("transcript", STARTED + 13)
    over = {"role": "assistant", "finish": "stop", "time": {"created": ms(12), "completed": ms(20)}}
    opencode.db.execute("UPDATE message SET data = ?, time_updated = ? WHERE id = 'msg_2'", (json.dumps(over), ms(20)))
    report = sense.read(running)
    assert words(report)["event"] == "turn-ended"
    assert words(report)["open"] == ""
    assert report is not None
    assert report.at == STARTED + 20


def test_which_session_is_its_own(home: Home, opencode: OpenCode) -> None:
    opencode.session()
    opencode.session(OTHER, at=-60)
    opencode.session("ses_elsewhere00", cwd="/elsewhere")
    opencode.session("ses_childchild0", parent=SESSION)
    assert words(SqliteConversations().read(home.running("opencode")))["conversation"] == SESSION
    assert words(SqliteConversations().read(home.running("opencode", "-s", OTHER)))["conversation"] == OTHER
    assert words(SqliteConversations().read(home.running("opencode"), OTHER))["conversation"] == OTHER
    opencode.db.execute("UPDATE session SET time_updated = ? WHERE id = ?", (ms(30), OTHER))
    report = SqliteConversations().read(home.running("opencode"))
    assert report is not None
    assert report.trouble.startswith("two conversations")


def test_work_of_a_sub_session_makes_it_grow(home: Home, opencode: OpenCode) -> None:
    sense, running = SqliteConversations(), home.running("opencode")
    opencode.session()
    opencode.session(OTHER, parent=SESSION)
    assert words(sense.read(running))["size"] == str(ms(10))
    opencode.part("prt_9", "msg_9", 55, {"type": "text"}, session=OTHER)
    assert words(sense.read(running))["size"] == str(ms(55))


def test_spoiled_rows_are_passed_over(home: Home, opencode: OpenCode) -> None:
    opencode.session()
    opencode.message("msg_1", 11, {"role": "assistant"})
    opencode.part("prt_1", "msg_1", 12, "{ cut o")
    opencode.part("prt_2", "msg_1", 13, {"type": "reasoning", "time": {"start": ms(13)}})
    opencode.db.execute("UPDATE part SET data = CAST(x'7bff' AS TEXT) WHERE id = 'prt_1'")
    assert words(SqliteConversations().read(home.running("opencode")))["event"] == "thinking"


def test_a_quiet_look_opens_nothing(home: Home, opencode: OpenCode, monkeypatch: pytest.MonkeyPatch) -> None:
    sense, running = SqliteConversations(), home.running("opencode")
    opencode.session()
    first = sense.read(running)
    assert first is not None
    with monkeypatch.context() as patch:
        patch.setattr(foreign_database, "_open_database", lambda *_: pytest.fail("it was opened"))
        assert sense.read(running) is first
    opencode.message("msg_1", 11, {"role": "user"})
    assert words(sense.read(running))["event"] == "prompt"


def test_nothing_is_left_behind_while_it_runs_after_it_ended_and_after_it_was_killed(
    home: Home, opencode: OpenCode
) -> None:
    running = home.running("opencode")
    opencode.session()
    before = opencode.files()
    assert sorted(before) == ["opencode.db", "opencode.db-shm", "opencode.db-wal"]
    assert words(SqliteConversations().read(running))["conversation"] == SESSION
    assert opencode.files() == before
    opencode.db.close()
    assert sorted(opencode.files()) == ["opencode.db"]
    assert words(SqliteConversations().read(running))["conversation"] == SESSION
    assert sorted(opencode.files()) == ["opencode.db"]
    killed(opencode.path, f"UPDATE session SET version = '2' WHERE id = '{SESSION}'")
    before = opencode.files()
    assert before["opencode.db-wal"] > 0
    assert words(SqliteConversations().read(running))["version"] == "2"
    assert opencode.files() == before


def killed(path: Path, statement: str) -> None:
    """Write to a database and die without closing it."""
    code = "import os, sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute(sys.argv[2]); d.commit(); os._exit(0)"
    subprocess.run([sys.executable, "-c", code, str(path), statement], check=True)


def test_a_log_without_its_index_is_left_alone(home: Home, opencode: OpenCode) -> None:
    opencode.session()
    opencode.db.close()
    killed(opencode.path, "UPDATE session SET version = '2'")
    Path(f"{opencode.path}-shm").unlink()
    before = opencode.files()
    report = SqliteConversations().read(home.running("opencode"))
    assert report is not None
    assert "-shm" in report.trouble
    assert opencode.files() == before


def test_a_database_that_changes_while_it_is_read_without_a_lock_is_read_again(
    home: Home, opencode: OpenCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    opencode.session()
    opencode.db.close()
    opened: list[str] = []
    plain = foreign_database._open_database

    def touching(path: str, how: str, limits: DatabaseLimits) -> sqlite3.Connection:
        opened.append(how)
        if len(opened) == 1:
            os.utime(path, (STARTED + 99, STARTED + 99))
        return plain(path, how, limits)

    monkeypatch.setattr(foreign_database, "_open_database", touching)
    assert words(SqliteConversations().read(home.running("opencode")))["conversation"] == SESSION
    assert opened == ["mode=ro&immutable=1"] * 2


@pytest.mark.parametrize("content", [b"", b"not a database at all, but long enough to have a header", b"\0" * 4096])
def test_what_is_no_database_is_trouble(content: bytes, home: Home) -> None:
    home.write(".local/share/opencode/opencode.db", content)
    report = SqliteConversations().read(home.running("opencode"))
    assert report is not None
    assert "cannot be read" in report.trouble
    assert os.listdir(home.top / ".local/share/opencode") == ["opencode.db"]


def test_other_tables_are_trouble(home: Home, opencode: OpenCode) -> None:
    opencode.db.executescript("DROP TABLE session; CREATE TABLE session (id TEXT)")
    report = SqliteConversations().read(home.running("opencode"))
    assert report is not None
    assert "no such column" in report.trouble


def test_a_path_with_odd_characters(home: Home) -> None:
    home.environment["XDG_DATA_HOME"] = str(home.top / "a ?#%ü")
    (home.top / "a ?#%ü/opencode").mkdir(parents=True)
    path = home.top / "a ?#%ü/opencode/opencode.db"
    with sqlite3.connect(path) as database:
        database.executescript(SCHEMA)
        database.execute("INSERT INTO session VALUES (?, NULL, ?, '1', 0, 0, ?)", (SESSION, CWD, ms(5)))
    database.close()
    assert words(SqliteConversations().read(home.running("opencode")))["conversation"] == SESSION


def test_agents_without_a_database_have_none(home: Home) -> None:
    reads: list[Callable[[], SourceReport | None]] = [
        lambda: SqliteConversations().read(home.running("claude")),
        lambda: SqliteConversations().read(home.running("opencode")),
        lambda: SqliteConversations().read(home.running("opencode", environment={})),
        lambda: SqliteConversations().read(home.running("agy")),
        lambda: SqliteConversations().read(home.running("opencode"), "../x"),
    ]
    assert [read() for read in reads] == [None] * 5


def test_agy_tells_its_steps(home: Home) -> None:
    number = "11eea414-0000-4000-8000-000000000000"
    path = home.top / f".gemini/antigravity-cli/conversations/{number}.db"
    path.parent.mkdir(parents=True)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute(
        "CREATE TABLE steps (idx INTEGER PRIMARY KEY, step_type INTEGER, status INTEGER, step_payload BLOB)"
    )
    database.execute("INSERT INTO steps VALUES (0, 14, 3, x'00'), (1, 15, 2, x'ff')")
    home.write(".gemini/antigravity-cli/cache/last_conversations.json", {CWD: number})
    found = words(SqliteConversations().read(home.running("agy")))
    assert int(found.pop("size")) > 0
    assert found == {
        "event": "",
        "open": "",
        "path": str(path),
        "conversation": number,
        "steps": "2",
        "step": "15",
        "state": "2",
    }
    database.close()
