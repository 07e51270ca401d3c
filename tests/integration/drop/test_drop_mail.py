"""Mail from a sandbox: it is from the subject in whose box it was left, whatever it says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from midwatch.core.foreign_text import ForeignText
from midwatch.mail import codec
from midwatch.mail.model import Mail
from tests.conftest import Box, tool
from tests.integration.drop.test_drop_box import drop, marks
from tests.integration.wait.watching import start, within

TEXT = "the text"


def leave(box: Box, name: str = "job", **changes: Any) -> None:
    """A message as an agent may have forged it."""
    values: dict[str, Any] = {
        "id": "aaaaaa", "sender": name, "to": "controller", "subject": "s", "topic": "", "thread": "aaaaaa", "task": "",
        "at": 1.0, "text": TEXT, **changes,
    }  # fmt: skip
    plain = ("id", "thread", "at")
    typed: dict[str, Any] = {key: value if key in plain else ForeignText(value) for key, value in values.items()}
    found = Mail(**typed)
    (drop(box, name) / f"{found.id}.md").write_text(codec.encode_mail(found))


def cut_off(box: Box, name: str = "job") -> dict[str, str]:
    """The variables of a subject whose state directory is hidden: here, because it has another name."""
    hidden = box.cwd / "hidden" / "drop" / name
    hidden.parent.mkdir(parents=True)
    hidden.symlink_to(drop(box, name))
    return marks(box, name) | {"MIDWATCH_DIR": str(hidden), "MIDWATCH_HOME": str(box.cwd / "hidden")}


def inbox(box: Box, *more: str) -> list[tuple[str, str, str]]:
    rows = [line.split() for line in box("mail", "inbox", *more).out.splitlines()[1:]]
    return [(row[0], row[1], row[4]) for row in rows]


@pytest.fixture
def job(box: Box) -> Box:
    start(box, "job", "sleep", "300")
    return box


def test_what_is_sent_from_a_sandbox_arrives(job: Box) -> None:
    words = ("--to", "controller", "--subject", "done", "--task", "bd-1", TEXT, "--json")
    sent = job("mail", "send", *words, **cut_off(job))
    assert (sent.code, sent.json["from"]) == (0, "job")
    assert not job.path("mail").exists()
    assert inbox(job) == [(sent.json["id"], "new", "job")]
    assert list(drop(job).glob("*.md")) == []
    shown = job("mail", "show", sent.json["id"], "--json").json
    assert (shown["text"], shown["task"]) == (TEXT, "bd-1")


def test_outside_a_sandbox_mail_goes_straight_to_its_place(job: Box) -> None:
    sent = job("mail", "send", "--to", "x", "--subject", "s", TEXT, "--from", "pane2", "--json", **marks(job))
    assert job.path(f"mail/{sent.json['id']}.md").exists()
    assert sent.json["from"] == "pane2"


def test_a_forged_sender_is_named_beside_the_subject(job: Box) -> None:
    leave(job, sender="controller")
    assert "job (says controller)" in job("mail", "inbox").out
    found = job("mail", "inbox", "--json").json
    assert (found["from"], found["claims"]) == ("job", "controller")
    assert "from: job\n" in job("mail", "show", "aaaaaa").out


def test_a_message_cannot_take_the_place_of_another(job: Box) -> None:
    first = job("mail", "send", "--to", "x", "--subject", "s", "first", "--json").json["id"]
    leave(job, id=first, thread=first)
    found = inbox(job)
    assert len(found) == 2
    assert job("mail", "show", first, "--json").json["text"] == "first"


def test_a_time_to_come_is_now(job: Box) -> None:
    leave(job, at=4e9)
    found = job("mail", "inbox", "--json").json["at"]
    assert found < 4e9
    later = job("mail", "send", "--to", "x", "--subject", "s", "t", "--thread", "aaaaaa", "--json").json
    assert found < later["at"] < found + 60


def test_a_thread_goes_on_and_one_that_nobody_knows_is_new(job: Box) -> None:
    first = job("mail", "send", "--to", "x", "--subject", "s", "first", "--json").json["id"]
    leave(job, id="bbbbbb", thread=first)
    leave(job, id="cccccc", thread="dddddd")
    threads = {line.split()[0]: None for line in job("mail", "inbox", "--thread", first).out.splitlines()[1:]}
    assert list(threads) == [first, "bbbbbb"]
    assert job("mail", "show", "cccccc", "--json").json["thread"] == "cccccc"


def test_only_mail_to_the_subject_is_marked_by_it(job: Box) -> None:
    ids = {to: job("mail", "send", "--to", to, "--subject", "s", "t", "--json").json["id"] for to in ("job", "other")}
    for id_ in ids.values():
        (drop(job) / f"{id_}.read").touch()
    assert {row[0]: row[1] for row in inbox(job)} == {ids["job"]: "read", ids["other"]: "new"}
    assert list(drop(job).glob("*.read")) == []


@pytest.mark.parametrize("made", ["link", "pipe", "directory", "huge", "garbage", "name", "long"])
def test_what_is_no_message_is_told_and_left_there(job: Box, made: str) -> None:
    path = drop(job) / "bbbbbb.md"
    if made == "link":
        path.symlink_to("/etc/passwd")
    elif made == "pipe":
        os.mkfifo(path)
    elif made == "directory":
        path.mkdir()
    elif made == "huge":
        path.touch()
        os.truncate(path, 1 << 30)
    elif made == "garbage":
        path.write_bytes(b"\xff\x00 no mail")
    elif made == "name":
        leave(job, id="bbbbbb", to="../x")
    else:
        leave(job, id="bbbbbb", subject="x" * 5000)
    leave(job)
    done = within(job, 10, "mail", "inbox")
    assert (done.code, "bbbbbb.md: " in done.err) == (0, True), done
    assert len(done.out.splitlines()) == 2
    assert os.path.lexists(path)


def test_unread_mail_survives_the_next_start_of_its_sender(job: Box) -> None:
    leave(job)
    assert job("stop", "job").code == 0
    start(job, "job", "sleep", "300")
    assert inbox(job) == [("aaaaaa", "new", "job")]


def test_in_a_sandbox_the_inbox_says_that_it_cannot_be_seen(job: Box) -> None:
    done = job("mail", "inbox", **cut_off(job))
    assert done.code == 12
    assert "cannot be seen in this sandbox" in done.err


def test_a_report_from_a_sandbox_keeps_its_task_open(job: Box) -> None:
    task = job("task", "add", "Mend it").out.strip()
    done = job("handoff", "--task", task, "--status", "done", "--json", **cut_off(job))
    assert (done.code, done.json["ping"]) == (0, "no_controller"), done
    closed = job("task", "close", task)
    assert closed.code == 12
    assert "a report about it is unread" in closed.err


def test_all_worktrees_share_the_mail_of_their_sandboxes(tmp_path: Path) -> None:
    """A session in a worktree has its own state directory; its mail is read in the main tree."""
    git = [tool("git"), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    main, tree = tmp_path / "main", tmp_path / "tree"
    for words in (["init", "-q", str(main)], ["-C", str(main), "commit", "-q", "--allow-empty", "-m", "x"],
                  ["-C", str(main), "worktree", "add", "-q", str(tree)]):  # fmt: skip
        subprocess.run([*git, *words], check=True, capture_output=True)
    found = Box(tmp_path)
    del found.env["MIDWATCH_HOME"]
    found.cwd = tree
    start(found, "job", "sleep", "300")
    (record,) = (tmp_path / ".local" / "state" / "midwatch").glob("tree-*/job.json")
    found.dir = record.parent
    try:
        leave(found)
        found.cwd = main
        assert inbox(found) == [("aaaaaa", "new", "job")]
        assert (next(iter((tmp_path / ".local/state/midwatch").glob("main-*"))) / "mail" / "aaaaaa.md").exists()
    finally:
        found.sweep()
