"""`orchestrator-helper`: sprint-status, the marker, escalation, and what a log says."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tests.integration.compat.automator import Automator

ROWS = (
    "epic-5: in-progress", "5-1-first: done", "5-2-second: review  # nearly", "5-3-third: 'ready-for-dev'",
    "5-4: in-progress", "5-30-other: done", "epic-5-retrospective: optional", "6-1-a: done", "6-2-b: done",
)  # fmt: skip
MARKER = ".claude/.story-automator-active"
CREATE = ("orchestrator-helper", "marker", "create", "--epic", "5", "--story", "5.3", "--remaining", "3")
CHECK = ("orchestrator-helper", "marker", "check")

# sprint-status ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "story", "status", "done"),
    [
        ("5.1", "5-1-first", "done", True),
        ("5-1", "5-1-first", "done", True),
        ("5-1-first", "5-1-first", "done", True),
        ("5-1-renamed", "5-1-first", "done", True),
        ("5.2", "5-2-second", "review", False),
        ("5.3", "5-3-third", "ready-for-dev", False),
        ("5.4", "5-4", "in-progress", False),
        ("epic-5", "epic-5", "in-progress", False),
    ],
)
def test_a_story_and_its_status(automator: Automator, key: str, story: str, status: str, done: bool) -> None:
    automator.sprint(*ROWS)
    said = automator.says("orchestrator-helper", "sprint-status", "get", key)
    assert said == {"found": True, "story": story, "status": status, "done": done}


def test_a_story_that_is_not_there_and_a_file_that_is_not_there(automator: Automator) -> None:
    get = ("orchestrator-helper", "sprint-status", "get")
    unknown = automator.says(*get, "9.9")
    assert (unknown["found"], unknown["status"], unknown["done"]) == (False, "unknown", False)
    assert unknown["reason"] == "sprint-status.yaml not found"
    assert automator("orchestrator-helper", "sprint-status", "exists").out == "false\n"
    automator.sprint(*ROWS)
    assert automator.says(*get, "9.9") == {"found": False, "story": "9.9", "status": "not_found", "done": False}
    assert automator.says(*get, "epic-9")["found"] is False
    assert automator("orchestrator-helper", "sprint-status", "exists").out == "true\n"


def test_two_stories_of_one_number_are_not_one(automator: Automator) -> None:
    automator.sprint("5-3-a: done", "5-3-b: backlog")
    said = automator.says("orchestrator-helper", "sprint-status", "get", "5.3")
    assert (said["found"], said["status"], said["done"]) == (False, "ambiguous", False)
    assert "5-3-a, 5-3-b" in said["reason"]


def test_the_older_place_is_read_where_the_newer_has_none(automator: Automator) -> None:
    automator.put("_bmad-output/sprint-status.yaml", "development_status:\n  5-3-a: done\n")
    assert automator.says("orchestrator-helper", "sprint-status", "get", "5.3")["done"] is True
    automator.sprint("5-3-a: review")
    assert automator.says("orchestrator-helper", "sprint-status", "get", "5.3")["status"] == "review"


def test_an_epic_is_done_when_all_its_stories_are(automator: Automator) -> None:
    check = ("orchestrator-helper", "sprint-status", "check-epic")
    missing = {"ok": False, "epic": "5", "allStoriesDone": False, "reason": "sprint-status.yaml not found", "count": 0}
    assert automator.says(*check, "5") == missing
    automator.sprint(*ROWS)
    stories = ["5-1-first", "5-2-second", "5-3-third", "5-4", "5-30-other"]
    counts = {"total": 5, "done": 2, "count": 5, "stories": stories}
    assert automator.says(*check, "5") == {"ok": True, "epic": "5", "allStoriesDone": False, **counts}
    six = automator.says(*check, "epic-6")
    assert (six["epic"], six["allStoriesDone"], six["total"]) == ("6", True, 2)
    assert automator.says(*check, "7")["reason"] == "no_stories_found"
    assert "'x'" in automator.refuses(*check, "x")


# The marker -----------------------------------------------------------------------------------------------------------


def test_a_marker_is_made_checked_kept_alive_and_removed(automator: Automator) -> None:
    assert automator.says(*CHECK) == {"exists": False}
    path = automator.root / MARKER
    done = automator(*CREATE, "--state-file", "/x/state.md", "--pid", "77", "--heartbeat", "2020-01-01T00:00:00Z")
    assert (done.code, done.out) == (0, f"Marker created: {path}\n")
    assert path.stat().st_mode & 0o777 == 0o600
    made = json.loads(path.read_text())
    assert list(made) == [
        "epic", "currentStory", "storiesRemaining", "stateFile", "createdAt", "startedAt", "heartbeat", "pid",
        "projectSlug",
    ]  # fmt: skip
    assert (made["epic"], made["currentStory"], made["storiesRemaining"], made["pid"]) == ("5", "5.3", 3, 77)
    assert (made["stateFile"], made["projectSlug"]) == ("/x/state.md", "myproj42")
    assert automator("orchestrator-helper", "marker", "heartbeat").out.startswith("Heartbeat updated: 20")
    beaten = json.loads(path.read_text())
    assert beaten["heartbeat"] >= made["createdAt"]
    assert beaten == made | {"heartbeat": beaten["heartbeat"]}
    assert automator("orchestrator-helper", "marker", "remove").out == "Marker removed\n"
    assert not path.exists()
    assert automator("orchestrator-helper", "marker", "remove").code == 0


def test_a_heartbeat_needs_a_marker(automator: Automator) -> None:
    assert "No marker file to update" in automator.refuses("orchestrator-helper", "marker", "heartbeat")


def test_where_the_marker_is(automator: Automator) -> None:
    said = automator.says("orchestrator-helper", "marker", "path")
    assert said == {"file": str(automator.root / MARKER), "entry": MARKER}


@pytest.mark.parametrize(
    "wrong",
    [
        ["--remaining", "many"],
        ["--remaining", "-1"],
        ["--remaining", "9" * 30],
        ["--pid", "x"],
        ["--heartbeat", "now"],
        ["--epic", "x"],
        ["--epic", "../5"],
    ],
    ids=" ".join,
)
def test_a_marker_is_not_made_of_what_makes_no_sense(automator: Automator, wrong: list[str]) -> None:
    automator.refuses(*CREATE, *wrong)
    assert not (automator.root / MARKER).exists()


@pytest.mark.parametrize("text", ["", "no JSON", "[1]", '{"epic":', "[" * 100_000])
def test_a_broken_marker_is_said_to_be_broken_and_can_be_removed(automator: Automator, text: str) -> None:
    automator.put(MARKER, text)
    assert "marker remove" in automator.refuses(*CHECK)
    assert "marker remove" in automator.refuses("orchestrator-helper", "marker", "heartbeat")
    assert automator("orchestrator-helper", "marker", "remove").code == 0
    assert automator.says(*CHECK) == {"exists": False}


def test_a_marker_that_is_a_link_is_replaced_and_not_written_through(automator: Automator, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("theirs")
    (automator.root / ".claude").mkdir()
    (automator.root / MARKER).symlink_to(other)
    automator.refuses(*CHECK)
    assert automator(*CREATE).code == 0
    assert other.read_text() == "theirs"
    assert automator.says(*CHECK)["epic"] == "5"


# Escalation -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "escalate"),
    [
        (["review-loop", "cycles=4"], False),
        (["review-loop", "cycles=5"], True),
        (["review-loop", "cycles=5 story=5.3"], True),
        (["review-loop", "story=5.3", "cycles=6"], True),
        (["session-crash", "retries=0"], False),
        (["session-crash", "retries=1"], False),
        (["session-crash", "retries=2"], True),
        (["story-validation", "created=1"], False),
        (["story-validation", "created=0"], True),
        (["story-validation", "created=2"], True),
        (["story-validation", "created=-1"], True),
        (["strange", "x=1"], False),
    ],
    ids=str,
)
def test_what_is_to_be_escalated(automator: Automator, words: list[str], escalate: bool) -> None:
    said = automator.says("orchestrator-helper", "escalate", *words)
    assert said["escalate"] is escalate
    assert bool(said.get("reason")) == (escalate or words[0] == "strange")
    assert said.get("action") == ("retry" if words[0] == "session-crash" and not escalate else None)


def test_how_much_is_too_much_can_be_set(automator: Automator) -> None:
    review, crash = (
        ("orchestrator-helper", "escalate", "review-loop"),
        ("orchestrator-helper", "escalate", "session-crash"),
    )
    assert automator.says(*review, "cycles=2", MAX_REVIEW_CYCLES="2")["escalate"] is True
    assert automator.says(*review, "cycles=6", MAX_REVIEW_CYCLES="7")["escalate"] is False
    assert automator.says(*crash, "retries=1", MAX_CRASH_RETRIES="1")["escalate"] is True
    assert "MAX_CRASH_RETRIES" in automator.refuses(*crash, "retries=1", MAX_CRASH_RETRIES="some")


# What a log says ------------------------------------------------------------------------------------------------------

ANSWERS: dict[str, dict[str, object]] = {
    "create": {"story_created": True, "story_file": "a.md"},
    "dev": {"tests_passed": True, "build_passed": True},
    "auto": {"tests_added": 3, "coverage_improved": True},
    "review": {"issues_found": {"critical": 0, "high": 1, "medium": 0, "low": 2}, "all_fixed": True},
    "retro": {},
}


@pytest.mark.parametrize("step", ANSWERS)
def test_a_log_is_read_by_a_model(automator: Automator, step: str) -> None:
    answer = {"status": "SUCCESS", **ANSWERS[step], "summary": "all is well", "next_action": "proceed"}
    automator.stand_in("claude", f"cat > /dev/null\ncat << 'END'\n{json.dumps(answer)}\nEND")
    log = automator.put("log.txt", "it worked\n")
    said = automator.says("orchestrator-helper", "parse-output", str(log), step)
    assert said == answer
    assert list(said) == list(answer)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo All went well.", "sub-agent returned invalid json"),
        ("true", "sub-agent returned invalid json"),
        ("""echo '{"status":"SUCC'""", "sub-agent returned invalid json"),
        ("""echo '{"status":"SUCCESS"}'""", "sub-agent returned invalid json"),
        ("echo no >&2; exit 1", "sub-agent call failed"),
    ],
    ids=["prose", "nothing", "half a JSON", "keys missing", "failed"],
)
def test_what_no_model_can_tell_is_for_a_person(automator: Automator, script: str, reason: str) -> None:
    automator.stand_in("claude", f"cat > /dev/null\n{script}")
    log = automator.put("log.txt", "it worked\n")
    said = automator.says("orchestrator-helper", "parse-output", str(log), "create", code=1)
    assert (said["status"], said["reason"], said["next_action"]) == ("error", reason, "escalate")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "parse_contract_invalid"),
        (["log.txt"], "parse_contract_invalid"),
        (["log.txt", "strange"], "parse_contract_invalid"),
        (["none.txt", "create"], "output file not found or empty"),
        (["empty.txt", "create"], "output file not found or empty"),
        ([".", "create"], "output file not found or empty"),
        (["", "create"], "output file not found or empty"),
    ],
    ids=str,
)
def test_a_log_that_cannot_be_read_is_for_a_person(automator: Automator, words: list[str], reason: str) -> None:
    automator.put("log.txt")
    automator.put("empty.txt", "")
    said = automator.says("orchestrator-helper", "parse-output", *words, code=1)
    assert (said["status"], said["reason"], said["next_action"]) == ("error", reason, "escalate")


def test_the_command_that_asks_can_be_set_but_not_by_a_file_that_nobody_trusts(automator: Automator) -> None:
    answer = {"status": "FAILURE", "summary": "it broke", "next_action": "retry"}
    automator.stand_in("other", f"cat > /dev/null\necho '{json.dumps(answer)}'")
    parse = ("orchestrator-helper", "parse-output", str(automator.put("log.txt", "it broke\n")), "retro")
    assert automator.says(*parse, MIDWATCH_PARSE_COMMAND="other") == answer
    automator.put("midwatch.toml", '[parse]\ncommand = "other"\n')
    refused = automator.says(*parse, code=1)
    assert (refused["reason"], refused["next_action"]) == ("sub-agent call failed", "escalate")
    assert "midwatch trust" in refused["detail"]
    automator.put("midwatch.toml", "[parse\n")
    assert "midwatch.toml" in automator.says(*parse, code=1)["detail"]


def test_a_marker_of_the_published_programs_is_understood(automator: Automator) -> None:
    old = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60))
    theirs = {"createdAt": old, "currentStory": "5.3", "epic": "5", "heartbeat": old, "pid": 0, "storiesRemaining": 3}
    path = automator.put(MARKER, json.dumps(theirs))
    said = automator.says(*CHECK)
    assert (said["exists"], said["file"], said["stale"]) == (True, str(path), False)
    assert 60 <= said["heartbeatAgeSeconds"] < 30 * 60
    assert theirs.items() <= said.items()
    assert os.path.samefile(said["file"], path)
