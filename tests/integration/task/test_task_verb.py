"""Tasks that we keep: made, taken, blocked, closed, and shown, in a file that beads could read."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from midwatch.mail import store as mail_store
from midwatch.trackers import builtin
from tests.conftest import Box, tool
from tests.integration.task.conftest import told


def file_of(box: Box) -> Path:
    return Path(box.cwd) / "midwatch-tasks.jsonl"


def added(box: Box, *words: str) -> str:
    done = box("task", "add", *words)
    assert done.code == 0, done
    return done.out.strip()


def test_without_a_file_there_is_no_work_and_none_is_made(box: Box) -> None:
    for words in (["task"], ["task", "ready"], ["task", "list", "--status", "all"]):
        done = box(*words)
        assert (done.code, done.out) == (0, ""), done
        assert "no task is" in done.err
    assert not file_of(box).exists()


def test_a_task_goes_from_ready_to_closed(box: Box) -> None:
    epic = added(box, "Header", "--type", "epic")
    first = added(box, "Parse it", "--epic", epic, "--priority", "1", "--label", "core", "--label", "a,b")
    second = added(box, "Print it", "--needs", first, "--epic", epic)
    assert all(re.fullmatch(r"dw-[0-9a-z]{3,5}", own) for own in (epic, first, second))
    assert [task["id"] for task in told(box, "ready")] == [first]
    (task,) = told(box, "start", first, "--assignee", "pane2")
    assert (task["status"], task["assignee"], task["labels"], task["parent"]) == (
        "in_progress", "pane2", ["core", "a", "b"], epic,
    )  # fmt: skip
    assert told(box, "ready") == []
    (task,) = told(box, "block", first, "--reason", "no key")
    assert (task["status"], task["notes"]) == ("blocked", ["Blocked: no key"])
    (task,) = told(box, "unblock", first)
    assert (task["status"], task["assignee"]) == ("open", "")
    told(box, "note", first, "half done")
    (task,) = told(box, "close", first, "--reason", "merged")
    assert (task["status"], task["notes"][-1]) == ("closed", "half done")
    assert task["closed"] is not None
    assert [(task["id"], task["ready"], task["waits_for"]) for task in told(box, "ready")] == [(second, True, [])]
    (task,) = told(box, "reopen", first)
    assert (task["status"], task["closed"]) == ("open", None)
    assert [task["waits_for"] for task in told(box, "show", second)] == [[first]]


def test_the_file_is_what_beads_writes(box: Box) -> None:
    first = added(box, "first")
    second = added(box, "second", "--needs", first, "--epic", first)
    box("task", "note", second, "a word", BD_ACTOR="me")
    box("task", "close", second, "--reason", "done")
    line = json.loads(file_of(box).read_text().splitlines()[1])
    assert line.keys() == {
        "id", "title", "status", "priority", "issue_type", "created_at", "updated_at", "labels", "dependencies",
        "comments", "close_reason", "closed_at",
    }  # fmt: skip
    links = [(each["issue_id"], each["depends_on_id"], each["type"]) for each in line["dependencies"]]
    assert links == [(second, first, "parent-child"), (second, first, "blocks")]
    (comment,) = line["comments"]
    assert (comment["id"], comment["issue_id"], comment["author"], comment["text"]) == (1, second, "me", "a word")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", line["closed_at"])
    box("task", "reopen", second)
    again = json.loads(file_of(box).read_text().splitlines()[1])
    assert line.keys() - again.keys() == {"close_reason", "closed_at"}


def test_what_we_do_not_know_stays_as_it_is_byte_by_byte(box: Box) -> None:
    others = '{"id" : "bd-1" ,"title":"caf\\u00e9","n":1.0e3}\n\n<<<<<<< HEAD\n{"id":"x","status":"tombstone"}\n'
    ours = '{"zeta":1,"id":"bd-2","title":"t","status":"open","deep":{"b":[1,null],"a":"\\ud83d"},"alpha":2}\n'
    file_of(box).write_bytes(others.encode() + b"\xff\xfe\n" + ours.encode())
    assert box("task", "start", "bd-2").code == 0
    written = file_of(box).read_bytes()
    assert written.startswith(others.encode() + b"\xff\xfe\n")
    line = written.removeprefix(others.encode() + b"\xff\xfe\n")
    assert list(json.loads(line)) == ["zeta", "id", "title", "status", "deep", "alpha", "updated_at"]
    assert json.loads(line)["deep"] == {"b": [1, None], "a": "\ud83d"}


def test_a_file_without_a_last_line_feed_loses_nothing(box: Box) -> None:
    file_of(box).write_text('{"id":"bd-1","status":"open"}')
    new = added(box, "next")
    assert [json.loads(line)["id"] for line in file_of(box).read_text().splitlines()] == ["bd-1", new]


def test_of_two_lines_of_an_id_the_last_is_changed(box: Box) -> None:
    file_of(box).write_text('{"id":"a","title":"old","status":"open"}\n{"id":"a","title":"new","status":"open"}\n')
    box("task", "start", "a")
    first, last = map(json.loads, file_of(box).read_text().splitlines())
    assert (first["status"], last["status"]) == ("open", "in_progress")
    assert [task["title"] for task in told(box)] == ["new"]


def test_the_mode_of_the_file_and_a_link_to_it_stay(box: Box) -> None:
    real = Path(box.cwd) / "elsewhere.jsonl"
    real.write_text("")
    real.chmod(0o640)
    file_of(box).symlink_to(real)
    added(box, "one")
    assert file_of(box).is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert len(real.read_text().splitlines()) == 1


def test_what_somebody_is_at_is_not_for_another(box: Box) -> None:
    own = added(box, "one")
    assert box("task", "start", own, "--assignee", "pane1").code == 0
    refused = box("task", "start", own, "--assignee", "pane2")
    assert refused.code == 12
    assert f"pane1 is at {own}" in refused.err
    assert box("task", "start", own, "--assignee", "pane1").code == 0
    box("task", "close", own)
    assert "is closed" in box("task", "start", own, "--assignee", "pane1").err


def test_who_starts_what_is_not_ready_is_told(box: Box) -> None:
    first = added(box, "first")
    second = added(box, "second", "--needs", first)
    done = box("task", "start", second)
    assert done.code == 0
    assert f"{second} needs {first} first" in done.err


def test_closing_twice_keeps_the_first_moment(box: Box) -> None:
    own = added(box, "one")
    (first,) = told(box, "close", own, "--reason", "done")
    (second,) = told(box, "close", own, "--reason", "again")
    assert first["closed"] == second["closed"]
    assert "again" not in file_of(box).read_text()


def test_a_report_that_nobody_has_read_keeps_its_task_open(box: Box) -> None:
    own, other = added(box, "one"), added(box, "two")
    place = mail_store.mail_directory(str(box.cwd), box.env["MIDWATCH_HOME"])
    sent = mail_store.send_mail(place, sender="pane2", to="controller", subject="done", text="all green", task=own)
    refused = box("task", "close", own)
    assert refused.code == 12
    assert f"midwatch mail show {sent.id}" in refused.err
    assert told(box, "show", own)[0]["status"] == "open"
    assert box("task", "close", other).code == 0
    mail_store.mark_mail(place, sent.id)
    assert box("task", "close", own).code == 0


def test_a_companion_without_records_stays_open(box: Box) -> None:
    own = added(box, "one")
    companion = added(box, f"Quality loops for {own}")
    box("task", "close", own)
    refused = box("task", "close", companion)
    assert refused.code == 12
    assert "self-review" in refused.err


@pytest.mark.parametrize("words", [
    ["frobnicate"], ["add"], ["add", " "], ["add", "two", "words"], ["add", "x", "--priority", "9"],
    ["add", "x", "--priority", ""], ["add", "a\nb"], ["add", "x", "--type", "a b"], ["block", "dw-1"],
    ["block", "dw-1", "--reason", " "], ["note", "dw-1"], ["show"], ["ready", "dw-1"], ["list", "--status", "doing"],
    ["start", "dw-1", "--reason", "x"], ["list", "--epic", "x"], ["list", "--project-dir", "/nowhere/at/all"],
], ids=" ".join)  # fmt: skip
def test_what_cannot_be_meant_is_said_and_nothing_is_written(box: Box, words: list[str]) -> None:
    done = box("task", *words)
    assert (done.code, done.out) == (2, ""), done
    assert not file_of(box).exists()


@pytest.mark.parametrize("words", [
    ["show", "dw-1"], ["start", "dw-1"], ["close", "dw-1"], ["reopen", "dw-1"], ["note", "dw-1", "x"],
    ["block", "dw-1", "--reason", "x"], ["add", "x", "--needs", "dw-1"], ["add", "x", "--epic", "dw-1"],
], ids=" ".join)  # fmt: skip
def test_a_task_that_is_not_there_is_said(box: Box, words: list[str]) -> None:
    file_of(box).write_text('{"id":"dw-10"}\n')
    done = box("task", *words)
    assert done.code == 12
    assert "there is no task 'dw-1' in" in done.err
    assert file_of(box).read_text() == '{"id":"dw-10"}\n'


@pytest.mark.parametrize("wrong", ["a directory", "a pipe", "rubbish"])
def test_a_file_that_cannot_be_read_is_said_and_left_alone(box: Box, wrong: str) -> None:
    path = file_of(box)
    if wrong == "a directory":
        path.mkdir()
    elif wrong == "a pipe":
        os.mkfifo(path)
    else:
        path.write_text("?\n")
    done = box("task", "list")
    assert done.code == 12
    assert "midwatch-tasks.jsonl" in done.err


def test_nothing_that_stands_in_a_task_can_move_the_cursor(box: Box) -> None:
    file_of(box).write_text(json.dumps({"id": "a\x1b[2J", "title": "b\x1b]0;x\x07\u202e", "assignee": "c\r"}) + "\n")
    done = box("task", "show", "a\x1b[2J")
    assert done.code == 0
    assert done.out.rstrip("\n").isprintable()


def test_list_shows_what_is_left_and_with_a_status_only_that(box: Box) -> None:
    for status in ("open", "in_progress", "blocked", "deferred", "closed"):
        with file_of(box).open("a") as file:
            file.write(json.dumps({"id": f"x-{status}", "title": status, "status": status}) + "\n")
    assert [task["status"] for task in told(box, "list")] == ["open", "in_progress", "blocked", "deferred"]
    assert [task["status"] for task in told(box, "list", "--status", "closed")] == ["closed"]
    assert len(told(box, "list", "--status", "all")) == 5


@pytest.mark.parametrize("name", ["midwatch-tasks.jsonl", ".beads/issues.jsonl"])
def test_a_file_that_is_cut_off_is_said(box: Box, name: str) -> None:
    path = Path(box.cwd) / name
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"id":"x-1","title":"one"}\n{"id":"x-2","title":"two"}\n')
    os.truncate(path, path.stat().st_size - 9)
    done = box("task", "list")
    assert (done.code, done.out) == (12, "")
    assert f"{name} is cut off in line 2: issues are missing" in done.err


def test_lines_that_cannot_be_read_are_said_beside_the_others(box: Box) -> None:
    file_of(box).write_text('{"id":"x-1","title":"one"}\n<<<<<<< HEAD\n{"id":"x-2","title":"two"}\n')
    done = box("task", "list", "--json")
    assert (done.code, len(done.out.splitlines())) == (0, 2)
    assert "line 2 cannot be read and may be an issue" in done.err


def test_the_companion_of_an_unfinished_task_is_not_ready(box: Box) -> None:
    task = added(box, "one")
    companion = added(box, f"Quality loops for {task}")
    assert [each["id"] for each in told(box, "ready")] == [task]
    (found,) = told(box, "show", companion)
    assert (found["ready"], found["waits_for"], found["needs"]) == (False, [task], [])
    assert f"(needs {task})" in box("task", "list").out
    box("task", "close", task)
    assert [each["id"] for each in told(box, "ready")] == [companion]


def test_a_worktree_has_the_tasks_of_its_main_tree(box: Box) -> None:
    main, tree = Path(box.cwd) / "main", Path(box.cwd) / "tree"
    git = [tool("git"), "-c", "user.name=x", "-c", "user.email=x@x"]
    subprocess.run([*git, "init", "-q", str(main)], check=True)
    subprocess.run([*git, "-C", str(main), "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "-C", str(main), "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    own = added(box, "one", "--project-dir", str(tree))
    assert [task["id"] for task in told(box, "list", "--project-dir", str(main))] == [own]
    assert not (tree / "midwatch-tasks.jsonl").exists()


def test_the_settings_name_the_file(box: Box) -> None:
    (Path(box.cwd) / "midwatch.toml").write_text('[tracker]\nkind = "tasks"\npath = "plan/work.jsonl"\n')
    (Path(box.cwd) / ".beads").mkdir()
    (Path(box.cwd) / "plan").mkdir()
    added(box, "one")
    assert (Path(box.cwd) / "plan/work.jsonl").exists()
    assert not file_of(box).exists()


def test_an_id_is_longer_where_the_short_ones_are_many(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_text("".join([f'{{"id":"x-{number}"}}\n' for number in range(36**3 // builtin.CROWDED + 1)]))
    assert re.fullmatch(r"dw-[0-9a-z]{4}", builtin.BuiltinTracker(str(path)).add("one"))
