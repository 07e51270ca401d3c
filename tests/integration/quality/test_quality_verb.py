"""`midwatch quality` with the tasks that we keep ourselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from midwatch.core.foreign_text import ForeignText
from midwatch.mail import store as mail_store
from midwatch.swarm.codec import quality_text
from midwatch.swarm.rules import quality
from midwatch.trackers.builtin import BuiltinTracker
from midwatch.trackers.model import CLOSED, OPEN, TrackerTask
from tests.conftest import PATIENCE, Box, Done

FINDING = 'the parser drops "the last" line; $HOME is `quoted` \\ wrongly'


@pytest.fixture
def tasks(box: Box) -> BuiltinTracker:
    return BuiltinTracker(str(box.cwd / "midwatch-tasks.jsonl"))


def rows(done: Done) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.out.splitlines()]


def made(box: Box, bead: str) -> str:
    done = box("quality", "ensure", "--beads", bead, "--json")
    assert done.code == 0
    (row,) = rows(done)
    return str(row["companion"])


def record_all(box: Box, bead: str) -> None:
    for loop in quality_text.LOOPS:
        assert box("quality", "record", bead, loop, "--none").code == 0


def companions(tasks: BuiltinTracker, bead: str) -> tuple[TrackerTask, ...]:
    return quality.find_companions(tasks.read(), bead)


# ensure


def test_ensure_makes_what_is_missing_and_nothing_twice(box: Box, tasks: BuiltinTracker) -> None:
    epic = tasks.add("Everything", kind="epic")
    one, two = tasks.add("Parse", parent=epic), tasks.add("Print")
    done = box("quality", "ensure", "--beads", f"{one}, {two}", "--json")
    assert (done.code, done.err) == (0, "")
    assert [(row["schema"], row["bead"]) for row in rows(done)] == [(1, one), (1, two)]
    (mine,), (other,) = companions(tasks, one), companions(tasks, two)
    assert [row["companion"] for row in rows(done)] == [mine.id, other.id]
    assert (mine.title.raw, mine.status, mine.labels, mine.parent) == (
        f"Quality loops for {one}", OPEN, ("quality-loops",), epic,
    )  # fmt: skip
    assert other.parent == ""
    again = box("quality", "ensure", "--beads", f"{one},{two}", "--json")
    assert (again.code, again.out) == (0, "")
    assert len(tasks.read().tasks) == 5


def test_many_at_once_make_one_companion_for_each_bead(box: Box, tasks: BuiltinTracker) -> None:
    beads = [tasks.add(f"Task {number}") for number in range(4)]
    started = [box.start("quality", "ensure", "--beads", ",".join(beads), "--json") for _ in range(6)]
    told = [json.loads(line) for each in started for line in each.communicate(timeout=PATIENCE * 2)[0].splitlines()]
    assert [each.returncode for each in started] == [0] * 6
    assert sorted(row["bead"] for row in told) == sorted(beads)
    assert [len(companions(tasks, bead)) for bead in beads] == [1] * 4


def test_a_companion_that_somebody_made_by_hand_is_enough(box: Box, tasks: BuiltinTracker) -> None:
    bead = tasks.add("Parse")
    tasks.add(f"Quality loops for {bead}")
    assert box("quality", "ensure", "--beads", bead, "--json").out == ""


def test_what_is_titled_otherwise_stays_as_it_is(box: Box, tasks: BuiltinTracker) -> None:
    bead = tasks.add("Parse")
    for title in (f"Quality loops for {bead}.2", f"Quality loops for {bead}0", f"Ask about Quality loops for {bead}"):
        tasks.add(title)
    assert made(box, bead) in {task.id for task in companions(tasks, bead)}
    assert len(companions(tasks, bead)) == 1


def test_a_label_says_otherwise(box: Box, tasks: BuiltinTracker) -> None:
    bead = tasks.add("Correct a word", labels=("no-quality-loops",))
    done = box("quality", "ensure", "--beads", bead)
    assert (done.code, done.out, done.err) == (0, "", "no companion is missing\n")


def test_an_id_that_is_no_task_is_told_and_keeps_nobody_else_from_anything(box: Box, tasks: BuiltinTracker) -> None:
    bead = tasks.add("Parse")
    done = box("quality", "ensure", "--beads", f"bd-404,{bead}", "--json")
    assert done.code == 12
    assert "has no task bd-404" in done.err
    assert [row["bead"] for row in rows(done)] == [bead]
    assert box("quality", "due", "--beads", "bd-404").code == 12


def test_without_beads_those_in_progress_are_meant_and_not_the_past(box: Box, tasks: BuiltinTracker) -> None:
    going, past = tasks.add("Parse"), tasks.add("Print")
    tasks.add("Later")
    tasks.start(going)
    tasks.close(past, "done")
    assert [row["bead"] for row in rows(box("quality", "ensure", "--json"))] == [going]
    assert companions(tasks, past) == ()


def test_another_project_can_be_meant(box: Box, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "midwatch.toml").write_text("")
    bead = BuiltinTracker(str(other / "midwatch-tasks.jsonl")).add("Parse")
    done = box("quality", "ensure", "--beads", bead, "--project-dir", str(other), "--json")
    assert [row["bead"] for row in rows(done)] == [bead]


# due


def test_a_whole_cycle_and_the_next_one(box: Box, tasks: BuiltinTracker) -> None:
    """A companion is made, its loops come due with the end of the work, it is closed last; and again when reopened."""
    bead = tasks.add("Parse")
    assert box("quality", "due", "--beads", bead, "--json").json == {
        "schema": 1, "bead": bead, "companion": None, "missing": list(quality_text.LOOPS),
        "why": "there is no companion",
    }  # fmt: skip
    first = made(box, bead)
    quiet = box("quality", "due", "--beads", bead)
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "no quality loops are due\n")
    tasks.close(bead, "done")
    found = box("quality", "due", "--beads", bead, "--json").json
    assert (found["companion"], found["missing"]) == (first, list(quality_text.LOOPS))
    assert box("quality", "due").out == f"{bead}  {first}  not recorded: {', '.join(quality_text.LOOPS)}\n"
    record_all(box, bead)
    assert box("quality", "due", "--json").json["why"] == "all loops are recorded; it can be closed"
    assert box("quality", "close", bead).code == 0
    assert box("quality", "due", "--beads", bead, "--json").out == ""
    tasks.note(bead, "a mere comment")
    assert box("quality", "due", "--beads", bead, "--json").out == ""

    tasks.reopen(bead)
    assert box("quality", "due", "--json").json["why"] == f"{first} is closed, but {bead} is not"
    tasks.close(bead, "done again")  # nobody made a companion while it was open
    assert box("quality", "due", "--json").json["why"] == f"{bead} was closed anew after {first}"
    second = made(box, bead)
    assert second != first
    assert box("quality", "due", "--json").json["missing"] == list(quality_text.LOOPS)


# record


def test_what_was_found_is_written_down_as_it_was_said(box: Box, tasks: BuiltinTracker) -> None:
    bead = tasks.add("Parse")
    companion = made(box, bead)
    done = box("quality", "record", bead, "self-review", FINDING, "--json")
    assert done.json == {
        "schema": 1, "bead": bead, "companion": companion, "loop": "self-review", "findings": FINDING,
        "missing": ["cross-review", "random exploration"],
    }  # fmt: skip
    assert tasks.read().tasks[companion].notes == (ForeignText(f"[self-review] findings: {FINDING}"),)


def test_either_id_and_any_way_to_write_a_loop_will_do(box: Box, tasks: BuiltinTracker) -> None:
    bead = tasks.add("Parse")
    companion = made(box, bead)
    assert box("quality", "record", companion, "random", "exploration", "--none").code == 0
    assert box("quality", "record", bead, "Cross-Review", "two", "words").code == 0
    last = box("quality", "record", bead, "self_review", "--none", "--json")
    assert (last.json["findings"], last.json["missing"]) == (None, [])
    assert tasks.read().tasks[companion].notes == (
        ForeignText("[random exploration] none"), ForeignText("[cross-review] findings: two words"),
        ForeignText("[self-review] none"),
    )  # fmt: skip


@pytest.mark.parametrize("text", [[], [""], ["none"], ["None."], ["n/a"], ["nothing", "found"], [" - "]])
def test_that_nothing_was_found_must_be_said_with_none(box: Box, tasks: BuiltinTracker, text: list[str]) -> None:
    bead = tasks.add("Parse")
    companion = made(box, bead)
    done = box("quality", "record", bead, "self-review", *text)
    assert done.code == 12
    assert "say so with --none" in done.err
    assert tasks.read().tasks[companion].notes == ()


def test_where_there_is_no_open_companion_nothing_can_be_recorded(box: Box, tasks: BuiltinTracker) -> None:
    bead = tasks.add("Parse")
    done = box("quality", "record", bead, "self-review", "--none")
    assert done.code == 12
    assert f"`midwatch quality ensure --beads {bead}`" in done.err
    companion = made(box, bead)
    tasks.close(companion, "by hand")
    for given in (bead, companion):
        assert box("quality", "record", given, "self-review", "--none").code == 12
    assert "is closed already" in box("quality", "close", companion).err
    assert "there is no task bd-404" in box("quality", "close", "bd-404").err


# close


def test_a_companion_cannot_be_closed_before_all_is_recorded(box: Box, tasks: BuiltinTracker) -> None:
    bead = tasks.add("Parse")
    companion = made(box, bead)
    tasks.close(bead, "done")
    tasks.note(companion, "all three loops are done, none found anything")
    assert box("quality", "record", bead, "cross-review", FINDING).code == 0
    done = box("quality", "close", bead)
    assert done.code == 12
    assert f"{companion} stays open: not recorded: self-review, random exploration" in done.err
    assert tasks.read().tasks[companion].status == OPEN
    for loop in ("self-review", "random exploration"):
        assert box("quality", "record", companion, loop, "--none").code == 0
    done = box("quality", "close", companion, "--json")
    assert (done.code, done.json) == (0, {"schema": 1, "bead": bead, "companion": companion, "closed": True})
    assert tasks.read().tasks[companion].status == CLOSED


def test_a_companion_cannot_be_closed_before_its_bead(box: Box, tasks: BuiltinTracker) -> None:
    """It would not count, and the three loops would be done once more."""
    bead = tasks.add("Parse")
    companion = made(box, bead)
    record_all(box, bead)
    done = box("quality", "close", bead)
    assert done.code == 12
    assert f"{bead} is not closed" in done.err
    assert tasks.read().tasks[companion].status == OPEN


@pytest.mark.parametrize("about", ["bead", "companion"])
def test_a_companion_cannot_be_closed_while_a_report_is_unread(box: Box, tasks: BuiltinTracker, about: str) -> None:
    bead = tasks.add("Parse")
    companion = made(box, bead)
    tasks.close(bead, "done")
    record_all(box, bead)
    place = mail_store.mail_directory(str(box.cwd), str(box.dir))
    sent = mail_store.send_mail(
        place, to="controller", sender="worker", subject="review", task=bead if about == "bead" else companion,
        text="it drops a line",
    )  # fmt: skip
    done = box("quality", "close", bead)
    assert done.code == 12
    assert f"`midwatch mail show {sent.id}`" in done.err
    mail_store.mark_mail(place, sent.id)
    assert box("quality", "close", bead).code == 0


# Words


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["what"], "quality takes one of due, ensure, record, close"),
        (["due", "bd-1"], "name the beads with --beads bd-1"),
        (["ensure", "--beads", ","], "--beads needs ids"),
        (["record", "bd-1"], "record needs the id of a bead or companion and a loop"),
        (["record", "bd-1", "security", "x"], "there is no loop 'security'"),
        (["record", "bd-1", "self-review", "x", "--none"], "say either what was found or --none"),
        (["close", "bd-1", "--none"], "--none belongs to record"),
        (["close"], "close needs the id of one bead or companion"),
        (["close", "bd-1", "--beads", "bd-2"], "--beads belongs to due and ensure"),
        (["due", "--project-dir", "nowhere"], "there is no directory nowhere"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_meant_is_a_wrong_command_line(box: Box, arguments: list[str], says: str) -> None:
    done = box("quality", *arguments)
    assert done.code == 2
    assert says in done.err


def test_where_there_are_no_tasks_nothing_is_due(box: Box) -> None:
    done = box("quality")
    assert (done.code, done.out, done.err) == (0, "", "no quality loops are due\n")
    assert not (box.cwd / "midwatch-tasks.jsonl").exists()
