"""Mail as files: no message is lost, whoever is killed; all worktrees share one place, and nobody else writes there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from midwatch.core.errors import RefusedError
from midwatch.mail import codec
from midwatch.mail import store as mail_store
from tests.conftest import Box, tool, until

AT_ONCE = """
import os, sys
from midwatch.mail import store as mail
place, writers = sys.argv[1], int(sys.argv[2])
gate, opened = os.pipe()
children = []
for number in range(writers):
    if not (child := os.fork()):
        os.close(opened)
        os.read(gate, 1)
        sent = mail.send_mail(place, sender=f"w{number}", to="controller", subject="s", text=f"text of {number}" * 500)
        os.write(1, f"{sent.id}\\n".encode())
        os._exit(0)
    children.append(child)
os.close(opened)
assert not any(os.waitpid(child, 0)[1] for child in children)
"""
ON_AND_ON = """
import os, sys
from midwatch.mail import store as mail
while True:
    os.write(1, f"{mail.send_mail(sys.argv[1], sender='w', to='c', subject='s', text='x' * 300_000).id}\\n".encode())
"""


def test_of_a_hundred_who_write_at_once_none_is_lost(tmp_path: Path) -> None:
    place = str(tmp_path / "jobs" / "mail")
    done = subprocess.run(
        [sys.executable, "-c", AT_ONCE, place, "100"], capture_output=True, text=True, timeout=120, check=True
    )
    found, wrong = mail_store.read_all(place)
    assert wrong == []
    assert sorted(each.id for each in found) == sorted(done.stdout.split())
    assert {each.sender.raw: each.text.raw for each in found} == {f"w{n}": f"text of {n}" * 500 for n in range(100)}


def test_whoever_is_killed_leaves_no_half_message_and_loses_none(tmp_path: Path) -> None:
    place = tmp_path / "jobs" / "mail"
    said: list[str] = []
    for _ in range(5):
        before = len(said)
        writer = subprocess.Popen([sys.executable, "-c", ON_AND_ON, str(place)], stdout=subprocess.PIPE, text=True)
        with writer:
            assert writer.stdout is not None
            said += [writer.stdout.readline().strip() for _ in range(3)]
            writer.send_signal(signal.SIGKILL)
            said += [line.strip() for line in writer.stdout if line.endswith("\n")]
        assert len(said) >= before + 3
    found, wrong = mail_store.read_all(str(place))
    assert wrong == []
    assert set(said) <= {each.id for each in found}
    assert {len(each.text.raw) for each in found} == {300_000}


def test_two_that_choose_the_same_id_get_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = str(tmp_path / "jobs" / "mail")
    chosen = iter(["aaaaaa", "aaaaaa", "aaaaaa", "bbbbbb"])
    monkeypatch.setattr(codec, "new_mail_id", lambda _: next(chosen))
    first = mail_store.send_mail(place, sender="a", to="b", subject="s", text="first")
    second = mail_store.send_mail(place, sender="a", to="b", subject="s", text="second")
    assert [(each.id, each.text.raw) for each in mail_store.read_inbox(place)] == [
        ("aaaaaa", "first"),
        ("bbbbbb", "second"),
    ]
    assert (first.id, second.id) == ("aaaaaa", "bbbbbb")
    assert not [name for name in os.listdir(place) if name.startswith(".")]


def test_unread_reports_are_found_by_task_and_by_who_is_to_read_them(tmp_path: Path) -> None:
    place = str(tmp_path / "jobs" / "mail")
    about = [("bd-1", "controller"), ("bd-1.2", "controller"), ("bd-10", "controller"), ("bd-1", "pane3")]
    sent = [mail_store.send_mail(place, sender="w", to=to, subject="s", text="t", task=task).id for task, to in about]
    assert mail_store.unread_ids_about(place, "bd-1") == [sent[0], sent[3]]
    assert [each.id for each in mail_store.read_unread(place, "controller")] == sent[:3]
    mail_store.mark_mail(place, sent[0])
    mail_store.mark_mail(place, sent[3], mail_store.ACKED)
    assert mail_store.unread_ids_about(place, "bd-1") == []
    assert mail_store.unread_ids_about(place, "bd-1.2") == [sent[1]]
    assert [each.id for each in mail_store.read_unread(place, "controller")] == sent[1:3]


def test_a_file_that_is_no_message_is_passed_over_and_told_of(box: Box) -> None:
    sent = box("mail", "send", "--to=x", "--subject=s", "--json", "text").json["id"]
    place = box.path("mail")
    (place / "broken.md").write_text("no header")
    (place / "posing.md").write_text((place / f"{sent}.md").read_text())
    (place / "link.md").symlink_to("/etc/hostname")
    os.mkfifo(place / "pipe.md")
    done = box("mail", "inbox", "--json")
    assert done.code == 0
    assert done.json["id"] == sent
    assert len(done.out.splitlines()) == 1
    assert [line.split(": ")[2].rpartition("/")[2] for line in done.err.splitlines()] == [
        "broken.md", "link.md", "pipe.md", "posing.md",
    ]  # fmt: skip


def test_a_subject_cannot_paint_the_terminal(box: Box) -> None:
    box("mail", "send", "--to=x", "--subject=\x1b[2J\x07hidden\u202e", "text")
    assert "\x1b" not in box("mail").out


def test_all_worktrees_of_a_project_have_one_mailbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MIDWATCH_HOME", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    git = [tool("git"), "-C", str(tmp_path / "main"), "-c", "user.name=x", "-c", "user.email=x@localhost"]
    subprocess.run([git[0], "init", "-q", str(tmp_path / "main")], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "tree")], check=True)
    (tmp_path / "tree" / "deep").mkdir()
    there = {mail_store.mail_directory(str(tmp_path / each)) for each in ("main", "tree", "tree/deep")}
    assert len(there) == 1
    assert mail_store.mail_directory(str(tmp_path)) not in there
    assert mail_store.mail_directory(str(tmp_path), str(tmp_path / "given")) == f"{tmp_path}/given/mail"


def test_where_others_may_write_nothing_is_believed(box: Box) -> None:
    box("mail", "send", "--to=x", "--subject=s", "text")
    box.path("mail").chmod(0o777)
    for words in (("inbox",), ("send", "--to=x", "--subject=s", "more")):
        done = box("mail", *words)
        assert done.code == 12, done
        assert "others may write to" in done.err


def test_a_link_in_its_place_is_refused(box: Box, tmp_path: Path) -> None:
    box.dir.mkdir()
    (tmp_path / "elsewhere").mkdir()
    box.path("mail").symlink_to(tmp_path / "elsewhere")
    done = box("mail", "send", "--to=x", "--subject=s", "text")
    assert done.code == 12
    assert "is a symbolic link" in done.err
    assert not list((tmp_path / "elsewhere").iterdir())


def test_where_nothing_can_be_written_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text("a file")
    with pytest.raises(RefusedError, match="cannot write to"):
        mail_store.send_mail(str(tmp_path / "jobs" / "mail"), sender="a", to="b", subject="s", text="t")


def test_a_message_is_there_whole_or_not_at_all_for_those_who_watch(tmp_path: Path) -> None:
    place = tmp_path / "jobs" / "mail"
    writer = subprocess.Popen([sys.executable, "-c", ON_AND_ON, str(place)], stdout=subprocess.DEVNULL)
    try:
        seen: set[str] = set()

        def enough() -> bool:
            found, wrong = mail_store.read_all(str(place))
            assert wrong == []
            assert all(len(each.text.raw) == 300_000 for each in found)
            seen.update(each.id for each in found)
            return len(seen) > 10

        until(enough, place)
    finally:
        writer.kill()
        writer.wait()
