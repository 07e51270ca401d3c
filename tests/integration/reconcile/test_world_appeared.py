"""Which conversation can only be that of a row that has none: the right one, or none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from midwatch.registry.model import RUNNING, STOPPED, RowPane
from midwatch.system import procfs
from tests.conftest import until
from tests.integration.reconcile.lookout import NAME, Lookout, aged

T = TypeVar("T")
AGENTS = ("claude", "codex", "gemini", "qwen", "agy", "opencode")
SECOND = "lab2-creator-claude"
LONG = 3600.0
LINKS = 50_000
"""Names that one file may have."""


@pytest.fixture
def where(lookout: Lookout) -> Path:
    return lookout.workspace.directory("landing-page")


def transcript(lookout: Lookout, where: Path, talk: str) -> Path:
    (found,) = lookout.home.glob(f".claude/projects/*/{talk}.jsonl")
    assert json.loads(found.read_text().splitlines()[-1])["cwd"] == str(where)
    return found


# What the process says ----------------------------------------------------------------------------------------------


def test_what_the_agent_says_of_itself_once_it_has_written_it(lookout: Lookout, where: Path) -> None:
    pid, talk = lookout.session(cwd=where), str(uuid.uuid4())
    lookout.state(pid, talk)
    assert lookout.appeared(lookout.row()) == {}, "nothing is written yet, and nothing could be resumed"
    lookout.leave("claude", where, talk=talk)
    sight = lookout.observe(lookout.row())
    assert (sight.appeared, sight.panes[0].conversation) == ({0: talk}, talk)


def test_two_agents_in_one_directory_that_say_which_is_theirs(lookout: Lookout, where: Path) -> None:
    rows = (lookout.row(), lookout.row(SECOND, 1))
    talks = []
    for name in (NAME, SECOND):
        talks.append(lookout.leave("claude", where))
        lookout.state(lookout.session(name, cwd=where), talks[-1])
    assert lookout.appeared(*rows) == dict(enumerate(talks))


def test_the_command_line_says_it(lookout: Lookout, where: Path) -> None:
    talk = lookout.leave("claude", where, age=LONG)
    lookout.leave("claude", where)
    program = lookout.workspace.agents / "claude"
    program.unlink()
    program.write_text("#!/bin/bash\nexec -a claude bash -c 'read -r line' claude \"$@\"\n")
    program.chmod(0o755)
    lookout.workspace.tmux.start(f"exec env HOME={lookout.home} {program} --resume {talk}", NAME, cwd=str(where))
    until(lambda: lookout.found().conversation == talk)
    assert lookout.appeared(lookout.row()) == {0: talk}


def test_the_file_that_it_holds_open_says_it(lookout: Lookout, where: Path) -> None:
    held, other = lookout.leave("codex", where), lookout.leave("codex", where)
    (path,) = lookout.home.rglob(f"*{held}.jsonl")
    command = f"exec env HOME={lookout.home} {lookout.workspace.agents / 'codex'} 1000 3< {path}"
    lookout.workspace.tmux.start(command, NAME, cwd=str(where))
    until(lambda: lookout.found().conversation == held)
    assert lookout.appeared(lookout.row(agent="codex")) == {0: held}
    assert lookout.appeared(lookout.row(agent="codex"), lookout.row("x", 1, conversation=held)) == {}
    assert other != held


def test_a_conversation_that_two_panes_have_open_is_nobodys(lookout: Lookout, where: Path) -> None:
    talk = lookout.leave("claude", where)
    for name in (NAME, SECOND):
        lookout.state(lookout.session(name, cwd=where), talk)
    assert lookout.appeared(lookout.row(), lookout.row(SECOND, 1)) == {}
    assert lookout.appeared(lookout.row()) == {}


def test_a_conversation_that_another_row_has_is_not_this_rows(lookout: Lookout, where: Path) -> None:
    talk = lookout.leave("claude", where)
    lookout.state(lookout.session(cwd=where), talk)
    assert lookout.appeared(lookout.row(), lookout.row("other", 1, STOPPED, conversation=talk)) == {}


def test_two_rows_of_one_session_do_not_both_get_it(lookout: Lookout, where: Path) -> None:
    talk = lookout.leave("claude", where)
    lookout.state(lookout.session(cwd=where), talk)
    assert lookout.appeared(lookout.row(), lookout.row(at=1)) == {}


# What has been written there ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", AGENTS)
def test_the_one_that_was_begun_there_since(lookout: Lookout, where: Path, agent: str) -> None:
    """In a pane with a shell, where the agent has been and is not seen."""
    lookout.workspace.tmux.start("exec sh", NAME, cwd=str(where))
    until(lambda: (lookout.found().command, lookout.found().cwd) == ("sh", str(where)))
    row = lookout.row(agent=agent)
    lookout.leave(agent, where, age=LONG)
    assert lookout.appeared(row) == {}
    talk = lookout.leave(agent, where)
    assert lookout.appeared(row) == {0: talk}
    lookout.leave(agent, lookout.workspace.directory("elsewhere"))
    if agent != "agy":  # which only notes the last
        assert lookout.appeared(row) == {0: talk}
        lookout.leave(agent, where)
        assert lookout.appeared(row) == {}, "two: neither can be told for sure"


@pytest.mark.parametrize("agent", ["claude", "codex", "agy"])
def test_an_agent_that_says_nothing_of_itself(lookout: Lookout, where: Path, agent: str) -> None:
    lookout.session(agent=agent, cwd=where)
    talk = lookout.leave(agent, where)
    assert lookout.appeared(lookout.row(agent=agent)) == {0: talk}
    assert lookout.found().conversation == "", "it is not beyond doubt"


@pytest.mark.parametrize(
    "first",
    [
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "x"},
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        {"type": "summary", "summary": "Other things", "leafUuid": "x"},
    ],
    ids=lambda line: str(line["type"]),
)
def test_first_lines_that_tell_neither_id_nor_directory(
    lookout: Lookout, where: Path, first: dict[str, object]
) -> None:
    lookout.session(cwd=where)
    talk = lookout.leave("claude", where)
    path = transcript(lookout, where, talk)
    spoken = path.read_text()
    path.write_text(json.dumps(first) + "\n")
    assert lookout.appeared(lookout.row()) == {}, "it does not say yet where it belongs"
    path.write_text(json.dumps(first) + "\n" + spoken)
    assert lookout.appeared(lookout.row()) == {0: talk}


def test_the_name_of_the_file_counts_not_the_id_of_its_ancestor(lookout: Lookout, where: Path) -> None:
    lookout.session(cwd=where)
    talk = lookout.leave("claude", where)
    path = transcript(lookout, where, talk)
    path.write_text(path.read_text().replace(talk, str(uuid.uuid4())))
    assert lookout.appeared(lookout.row()) == {0: talk}


def test_directories_whose_keys_collide(lookout: Lookout) -> None:
    one, other = lookout.workspace.directory("a-b"), lookout.workspace.directory("a_b")
    lookout.session(cwd=one)
    lookout.leave("claude", other)
    assert lookout.appeared(lookout.row()) == {}
    talk = lookout.leave("claude", one)
    assert len({path.parent for path in lookout.home.glob(".claude/projects/*/*.jsonl")}) == 1
    assert lookout.appeared(lookout.row()) == {0: talk}


def test_sub_agents_are_nobodys_conversation(lookout: Lookout, where: Path) -> None:
    lookout.session(cwd=where)
    talk = lookout.leave("claude", where)
    path = transcript(lookout, where, talk)
    for beside in (path.with_name("agent-a1b2c3d4.jsonl"), path.with_suffix("") / "subagents" / "agent-x.jsonl"):
        beside.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(path.read_text())
    path.with_name("notes.jsonl").write_text(path.read_text())
    assert lookout.appeared(lookout.row()) == {0: talk}


def test_agys_note_may_be_anothers(lookout: Lookout, where: Path) -> None:
    """The note is newer than the pane, but nothing was written to that conversation since."""
    lookout.session(agent="agy", cwd=where)
    talk = lookout.leave("agy", where)
    database = lookout.home / f".gemini/antigravity-cli/conversations/{talk}.db"
    aged(database, LONG)
    assert lookout.appeared(lookout.row(agent="agy")) == {}
    database.with_name(f"{talk}.db-wal").write_text("")
    assert lookout.appeared(lookout.row(agent="agy")) == {0: talk}, "what is not yet in the file itself counts"


def test_a_hundred_thousand_old_transcripts(lookout: Lookout, where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = transcript(lookout, where, lookout.leave("claude", where, age=LONG)).parent
    for number in range(100_000):  # names are made faster than files
        old = lookout.home / f"old-{number // LINKS}"
        if number % LINKS == 0:
            lookout.file(old.name, "", age=LONG)
        os.link(old, f"{folder}/{number:08x}-438c-4405-b9d9-df6e5f8ef6cf.jsonl")
    lookout.session(cwd=where)
    row, talk = lookout.row(), lookout.leave("claude", where)
    aged(folder, LONG)  # what was changed just now is looked at twice
    assert lookout.appeared(row) == {0: talk}
    with monkeypatch.context() as watched:
        for name in ("listdir", "scandir"):
            watched.setattr(os, name, spared(folder, getattr(os, name)))
        assert lookout.appeared(row) == {0: talk}, "an unchanged directory is not read again"
    lookout.leave("claude", where)
    assert lookout.appeared(row) == {}
    shutil.rmtree(folder)


def spared(folder: Path, read: Callable[[str], T]) -> Callable[[str], T]:
    def reading(path: str) -> T:
        assert path != str(folder), "it was read"
        return read(path)

    return reading


# Whose it may be besides --------------------------------------------------------------------------------------------


def test_two_agents_in_one_directory_that_say_nothing(lookout: Lookout, where: Path) -> None:
    rows = (lookout.row(), lookout.row(SECOND, 1))
    for name in (NAME, SECOND):
        lookout.session(name, cwd=where)
    talk = lookout.leave("claude", where)
    assert lookout.appeared(*rows) == {}
    assert lookout.appeared(rows[0]) == {}, "the other pane is in no row"
    lookout.workspace.tmux("kill-session", "-t", f"={SECOND}")
    until(lambda: len(lookout.observe().panes) == 1)
    assert lookout.appeared(rows[0]) == {0: talk}


def test_an_agent_of_another_kind_in_the_same_directory_is_no_rival(lookout: Lookout, where: Path) -> None:
    lookout.session(cwd=where)
    lookout.session("lab-creator-codex", "codex", where)
    talks = [lookout.leave(agent, where) for agent in ("claude", "codex")]
    rows = lookout.row(), lookout.row("lab-creator-codex", 1, agent="codex")
    assert lookout.appeared(*rows) == dict(enumerate(talks))


def test_what_others_have_is_left_out(lookout: Lookout, where: Path) -> None:
    lookout.session(cwd=where)
    lookout.state(lookout.session(SECOND, cwd=where), theirs := lookout.leave("claude", where))
    noted, own = lookout.leave("claude", where), lookout.leave("claude", where)
    rows = lookout.row(), lookout.row("old", 1, STOPPED, conversation=noted)
    assert theirs not in (noted, own)
    assert lookout.appeared(*rows) == {0: own}


@pytest.mark.parametrize(
    ("status", "ended", "clear"),
    [(RUNNING, None, False), (STOPPED, None, False), (STOPPED, 60.0, False), (STOPPED, -LONG, True)],
    ids=["runs", "ended at no known time", "ended since", "ended before"],
)
def test_another_row_there_without_an_id(
    lookout: Lookout, where: Path, status: str, ended: float | None, *, clear: bool
) -> None:
    lookout.session(cwd=where)
    talk = lookout.leave("claude", where)
    link = lookout.home / "link"
    link.symlink_to(where)
    since = None if ended is None else time.time() + ended
    for cwd in (where, link):
        other = lookout.row("other", 1, status, since=since, pane=RowPane(cwd=str(cwd)))
        assert lookout.appeared(lookout.row(), other) == ({0: talk} if clear else {})
        assert lookout.appeared(lookout.row(), other._replace(agent="codex")) == {0: talk}
        assert lookout.appeared(lookout.row(), other._replace(pane=RowPane(cwd="/"))) == {0: talk}


@pytest.fixture
def outsider(lookout: Lookout, where: Path) -> Iterator[int]:
    """An agent in the same directory, in no pane; its pid."""
    command = [str(lookout.workspace.agents / "claude"), "1000"]
    running = subprocess.Popen(command, cwd=where, env={"HOME": str(lookout.home)})
    until(lambda: procfs.command_name(running.pid) == "claude")
    yield running.pid
    running.kill()
    running.wait()


def test_an_agent_outside_of_tmux(lookout: Lookout, where: Path, outsider: int) -> None:
    lookout.session(cwd=where)
    talk = lookout.leave("claude", where)
    assert lookout.appeared(lookout.row()) == {}, "it says nothing: it may be that one's"
    lookout.state(outsider, str(uuid.uuid4()))
    assert lookout.appeared(lookout.row()) == {0: talk}
    lookout.state(outsider, talk)
    assert lookout.appeared(lookout.row()) == {}


def test_who_is_not_asked_for(lookout: Lookout, where: Path) -> None:
    lookout.session(cwd=where)
    talk = lookout.leave("claude", where)
    assert lookout.appeared(lookout.row(status=STOPPED)) == {}
    assert lookout.appeared(lookout.row(conversation=str(uuid.uuid4()))) == {}
    assert lookout.appeared(lookout.row("gone-creator-claude")) == {}
    assert lookout.appeared(lookout.row(agent="codex")) == {}, "another agent is in its pane"
    assert lookout.appeared(lookout.row(agent="")) == {0: talk}


def test_of_several_panes_the_one_with_the_rows_agent(lookout: Lookout, where: Path) -> None:
    lookout.session(cwd=where)
    elsewhere = lookout.workspace.directory("elsewhere")
    lookout.workspace.tmux("split-window", "-d", "-t", f"={NAME}:", "-c", str(elsewhere), "cat")
    until(lambda: [pane.command for pane in lookout.observe().panes] == ["claude", "cat"])
    lookout.leave("claude", elsewhere)
    assert lookout.appeared(lookout.row()) == {}
    talk = lookout.leave("claude", where)
    assert lookout.appeared(lookout.row()) == {0: talk}
