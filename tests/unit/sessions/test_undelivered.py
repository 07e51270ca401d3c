"""A note of what did not arrive is there until it arrives, or is too old; and nobody else can read it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from midwatch.core.errors import RefusedError, UsageError
from midwatch.sessions.prompting import undelivered_store

SOCKET = "/run/a-server"


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "midwatch" / "undelivered"


def test_where_nothing_was_left_there_is_nothing(root: Path) -> None:
    assert (undelivered_store.read_all_notes(), undelivered_store.read_notes(SOCKET, "%3")) == ([], [])
    undelivered_store.remove_notes(SOCKET, "%3", "hello")
    undelivered_store.drop_note("0123abcd")
    assert not root.exists()


def test_a_note_says_what_was_to_be_said_to_whom_and_why_not(root: Path) -> None:
    text = "one\n'two' \"three\" $HOME `id` \\ é 👍 "
    note = undelivered_store.write_note(SOCKET, "%3", text, "Enter did not send it", target="api", left=True, pid=17)
    assert note[1:6] == (SOCKET, "%3", "api", text, "Enter did not send it")
    assert (note.left, note.pid) == (True, 17)
    assert (
        undelivered_store.read_notes(SOCKET, "%3")
        == undelivered_store.read_all_notes()
        == [note]
        == [undelivered_store.find_note(note.id[:4])]
    )
    assert root.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in root.iterdir()] == [0o600]


def test_a_note_is_of_one_pane_of_one_server() -> None:
    note = undelivered_store.write_note(SOCKET, "%3", "hello", "busy", pid=17)
    others = [(SOCKET, "%30", 0), (SOCKET, "%1", 0), ("/run/another", "%3", 0), (SOCKET, "%3", 18)]
    assert [undelivered_store.read_notes(*other) for other in others] == [[]] * 4
    assert undelivered_store.read_notes(SOCKET, "%3", 17) == [note]


def test_the_same_text_tried_again_is_the_same_note() -> None:
    first = undelivered_store.write_note(SOCKET, "%3", "hello", "busy")
    second = undelivered_store.write_note(SOCKET, "%3", "hello", "not taken")
    assert (first.id, undelivered_store.read_all_notes()) == (second.id, [second])
    assert undelivered_store.write_note(SOCKET, "%3", "hello!", "busy").id != first.id
    assert len(undelivered_store.read_all_notes()) == 2


def test_a_delivery_settles_the_note_of_its_text_and_says_that_nothing_else_stands_there() -> None:
    undelivered_store.write_note(SOCKET, "%3", "hello", "busy")
    other = undelivered_store.write_note(SOCKET, "%3", "another", "not taken", left=True)
    elsewhere = undelivered_store.write_note(SOCKET, "%4", "hello", "not taken", left=True)
    undelivered_store.remove_notes(SOCKET, "%3", "hello")
    assert undelivered_store.read_notes(SOCKET, "%3") == [other._replace(left=False)]
    assert undelivered_store.read_notes(SOCKET, "%4") == [elsewhere]


def test_an_id_that_is_none_or_not_one_is_told() -> None:
    with pytest.raises(UsageError, match="no undelivered note is called 'x'"):
        undelivered_store.find_note("x")
    for number in range(17):
        undelivered_store.write_note(SOCKET, "%3", f"{number}", "busy")
    first = [note.id[0] for note in undelivered_store.read_all_notes()]
    shared = next(letter for letter in first if first.count(letter) > 1)
    with pytest.raises(UsageError, match=f"{first.count(shared)} undelivered notes begin with"):
        undelivered_store.find_note(shared)


def test_the_oldest_of_too_many_goes_and_what_is_too_old(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undelivered_store, "MOST", 3)
    now = time.time()
    for age, text in ((40.0, "d"), (30.0, "c"), (20.0, "b"), (10.0, "a")):
        note = undelivered_store.write_note(SOCKET, "%3", text, "busy")
        path = next(root.glob(f"*{note.id}.json"))
        os.utime(path, (now - age, now - age))
    undelivered_store.write_note(SOCKET, "%3", "new", "busy")
    assert {note.text for note in undelivered_store.read_all_notes()} == {"b", "a", "new"}
    path = next(root.glob(f"*{undelivered_store.read_all_notes()[0].id}.json"))
    os.utime(path, (now, now - undelivered_store.LONGEST - 10))
    gone = undelivered_store.read_all_notes()[0].text
    undelivered_store.write_note(SOCKET, "%3", "new", "busy")
    assert gone not in {note.text for note in undelivered_store.read_all_notes()}
    assert len(undelivered_store.read_all_notes()) == 2


def test_what_cannot_be_read_is_passed_over(root: Path) -> None:
    note = undelivered_store.write_note(SOCKET, "%3", "hello", "busy")
    for name, content in (("a", "{"), ("b", "[]"), ("c", '{"schema":9}'), ("d", '{"schema":1,"id":"x"}'), ("e", "")):
        (root / f"0-3-{name}.json").write_text(content)
    (root / "0-3-f.json").symlink_to("/etc/passwd")
    assert undelivered_store.read_all_notes() == [note]


def test_where_nothing_can_be_written_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "midwatch").write_text("no directory")
    with pytest.raises(RefusedError, match="cannot be noted"):
        undelivered_store.write_note(SOCKET, "%3", "hello", "busy")
