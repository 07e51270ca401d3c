"""`midwatch mail`: what is sent is found, read once, and answered in order."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

from tests.conftest import PATIENCE, Box


def send(box: Box, text: str = "the text", /, **given: str) -> dict[str, Any]:
    words = {"from": "pane2", "to": "controller", "subject": "a subject"} | given
    done = box("mail", "send", text, "--json", *(f"--{key}={value}" for key, value in words.items()))
    assert (done.code, done.err) == (0, ""), done
    return done.json


def listed(box: Box, *options: str) -> list[dict[str, Any]]:
    done = box("mail", "inbox", "--json", *options)
    assert done.code == 0, done
    return [json.loads(line) for line in done.out.splitlines()]


def test_a_message_is_one_markdown_file(box: Box) -> None:
    sent = send(box, "# Report\n\nAll green.", task="bd-1", topic="review")
    path = box.path("mail") / f"{sent['id']}.md"
    assert path.read_text().endswith("\n---\n\n# Report\n\nAll green.")
    assert path.stat().st_mode & 0o777 == 0o600
    assert box.path("mail").stat().st_mode & 0o777 == 0o700
    assert sent.pop("at") > 0
    assert sent == {
        "schema": 1, "id": path.stem, "from": "pane2", "to": "controller", "subject": "a subject", "topic": "review",
        "thread": path.stem, "task": "bd-1", "state": "new",
    }  # fmt: skip


def test_to_show_it_is_to_read_it_and_changes_nothing_of_it(box: Box) -> None:
    sent = send(box, "hello\n---\nthere")
    path = box.path("mail") / f"{sent['id']}.md"
    before = path.read_bytes()
    assert [each["state"] for each in listed(box, "--unread")] == ["new"]
    shown = box("mail", "show", sent["id"])
    assert shown.code == 0
    header = before.decode().split("\n---\n")[0].removeprefix("---\n")
    assert shown.out == f"{header}\n  | hello\n  | ---\n  | there\n"
    assert listed(box, "--unread") == []
    assert [each["state"] for each in listed(box)] == ["read"]
    assert path.read_bytes() == before
    assert box("mail", "show", sent["id"], "--raw").out == before.decode()
    assert box("mail", "show", sent["id"], "--json").json["text"] == "hello\n---\nthere"


def test_what_is_acknowledged_is_read_too(box: Box) -> None:
    first, second = send(box), send(box)
    done = box("mail", "ack", first["id"], second["id"])
    assert done.out == f"{first['id']}: acknowledged\n{second['id']}: acknowledged\n"
    assert [each["state"] for each in listed(box)] == ["acked", "acked"]
    assert listed(box, "--unread") == []


def test_a_message_that_nobody_could_read_stays_unread(box: Box) -> None:
    sent = send(box, "x" * 100_000)
    reader, writer = os.pipe()
    os.close(reader)
    with box.start("mail", "show", sent["id"], stdout=writer, stderr=subprocess.DEVNULL) as call:
        os.close(writer)
        assert call.wait(PATIENCE) == 141
    assert [each["id"] for each in listed(box, "--unread")] == [sent["id"]]


def test_the_inbox_can_be_narrowed(box: Box) -> None:
    one = send(box, to="a", topic="x")
    two = send(box, to="b", topic="x", task="bd-1")
    three = send(box, to="b")
    assert [each["id"] for each in listed(box)] == [one["id"], two["id"], three["id"]]
    assert [each["id"] for each in listed(box, "--to", "b")] == [two["id"], three["id"]]
    assert [each["id"] for each in listed(box, "--topic", "x")] == [one["id"], two["id"]]
    table = box("mail")
    assert [line.split()[0] for line in table.out.splitlines()] == ["ID", one["id"], two["id"], three["id"]]
    assert table.out.splitlines()[2].split()[-5:] == ["pane2", "b", "bd-1", "a", "subject"]


def test_a_thread_is_in_order_whoever_answers_whom(box: Box) -> None:
    first = send(box)
    other = send(box)
    second = send(box, thread=first["id"])
    third = send(box, thread=second["id"][:4])
    assert [each["id"] for each in listed(box, "--thread", third["id"])] == [first["id"], second["id"], third["id"]]
    assert {second["thread"], third["thread"]} == {first["id"]}
    assert [each["id"] for each in listed(box, "--thread", other["id"])] == [other["id"]]


def test_an_answer_comes_after_what_it_answers_although_the_clock_was_set_back(box: Box) -> None:
    first = send(box)
    path = box.path("mail") / f"{first['id']}.md"
    at = next(line for line in path.read_text().splitlines() if line.startswith("at: "))
    path.write_text(path.read_text().replace(at, 'at: "2099-01-01T00:00:00Z"'))
    second = send(box, thread=first["id"])
    assert [each["id"] for each in listed(box)] == [first["id"], second["id"]]


def test_the_first_letters_suffice_if_they_are_one_messages_own(box: Box) -> None:
    sent = send(box)
    assert box("mail", "show", sent["id"][:3]).code == 0
    many = [send(box)["id"] for _ in range(3)]
    same = box.path("mail") / f"{many[0][:4]}22.md"
    text = (box.path("mail") / f"{many[0]}.md").read_text()
    same.write_text(text.replace(many[0], same.stem))
    done = box("mail", "ack", many[0][:4])
    assert done.code == 12
    assert f"2 messages begin with '{many[0][:4]}'" in done.err
    assert box("mail", "ack", many[0]).code == 0


@pytest.mark.parametrize("name", ["../../x", "a/b", ".x", "a b", "-"])
def test_names_are_no_paths(box: Box, name: str) -> None:
    for flag in ("--to", "--from"):
        done = box("mail", "send", "--to=x", "--subject=s", f"{flag}={name}", "text")
        assert done.code == 2, done
        assert flag in done.err
    assert not box.path("mail").exists()


@pytest.mark.parametrize("id_", ["../jobs/x", "nosuch", "*", "/etc/passwd", ".."])
def test_an_id_is_looked_up_and_never_a_path(box: Box, id_: str) -> None:
    send(box)
    for verb in ("show", "ack"):
        done = box("mail", verb, id_)
        assert done.code == 12, done
        assert "`midwatch mail inbox` lists them" in done.err


def test_a_text_may_come_from_a_file_or_standard_input(box: Box) -> None:
    (box.cwd / "report.md").write_text("from a file\n")
    common = ("--to=x", "--subject=s", "--json")
    one = box("mail", "send", *common, "--file", "report.md").json["id"]
    two = box("mail", "send", *common, "--file", "-", stdin="from a pipe\n").json["id"]
    texts = [box("mail", "show", each, "--json").json["text"] for each in (one, two)]
    assert texts == ["from a file\n", "from a pipe\n"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("send", "--to=x", "--subject=s"), "needs one text"),
        (("send", "--to=x", "--subject=s", "a", "b"), "needs one text"),
        (("send", "--to=x", "--subject=s", "--file=/nowhere/x"), "--file /nowhere/x: No such file"),
        (("send", "--to=x", "text"), "needs --to and --subject"),
        (("send", "--to=x", "--subject=s", "--unread", "text"), "--unread does not belong to mail send"),
        (("inbox", "--subject=s"), "--subject does not belong to mail inbox"),
        (("inbox", "x"), "takes no names"),
        (("show",), "needs the id"),
        (("burn",), "mail takes send, inbox, show, ack"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_said(box: Box, words: tuple[str, ...], says: str) -> None:
    done = box("mail", *words)
    assert done.code == 2, done
    assert says in done.err
    assert not box.path("mail").exists()


def test_a_text_that_is_too_long_is_refused_whole(box: Box) -> None:
    (box.cwd / "huge").write_bytes(b"x" * ((4 << 20) + 1))
    done = box("mail", "send", "--to=x", "--subject=s", "--file=huge")
    assert done.code == 2
    assert "longer than 4 MB" in done.err
    assert listed(box) == []


def test_nothing_that_is_there_is_said_on_standard_error(box: Box) -> None:
    done = box("mail")
    assert (done.code, done.out, done.err) == (0, "", "no mail here\n")
    assert not box.dir.exists()


def test_who_sends_it_is_known_without_being_told(box: Box) -> None:
    assert box("mail", "send", "--to=x", "--subject=s", "t", "--json", USER="mara").json["from"] == "mara"
    assert box("mail", "send", "--to=x", "--subject=s", "t", "--json", MIDWATCH_NAME="api").json["from"] == "api"
