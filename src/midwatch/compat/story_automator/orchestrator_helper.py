"""`story-automator orchestrator-helper`: what a script asks between two sessions.

Where the published programs print JSON, so is an error: a script that reads `.next_action` or `.done` must never go on
because a key was missing.
"""

from __future__ import annotations

import os
import sys

from midwatch.compat.story_automator import project, story_verification
from midwatch.config import paths
from midwatch.core.errors import MidwatchError, UsageError
from midwatch.core.json_text import dump
from midwatch.stories import model as stories_model
from midwatch.stories.model import CALL_FAILED, ESCALATE, ParsedLog
from midwatch.stories.rules import next_action
from midwatch.trackers.codec import bmad

USAGE = """Usage: orchestrator-helper <action> [args]

Actions:
  sprint-status get <story_key>
  sprint-status exists
  sprint-status check-epic <epic>
  parse-output <file> <create|dev|auto|review|retro>
  marker create --epic E --story S --remaining N [--state-file F]
  marker remove
  marker check
  marker heartbeat
  marker path
  escalate review-loop cycles=N
  escalate session-crash retries=N
  escalate story-validation created=N"""
TRIGGERS = {
    "review-loop": ("cycles", "MAX_REVIEW_CYCLES", stories_model.REVIEW_CYCLES),
    "session-crash": ("retries", "MAX_CRASH_RETRIES", stories_model.CRASH_RETRIES),
    "story-validation": ("created", "", 0),
}
"""What is asked about, the number that must be told, and who may set how much of it is too much."""
NOT_READABLE = "output file not found or empty"
NO_STEP = "parse_contract_invalid"
NO_FILE = "sprint-status.yaml not found"


def main(given: list[str]) -> int:
    action, rest = (given[0], given[1:]) if given else ("", [])
    match action:
        case "--help" | "-h":
            print(USAGE)
            return 0
        case "sprint-status":
            return _print_sprint(rest)
        case "parse-output":
            return _parse_log(rest)
        case "marker":
            from midwatch.compat.story_automator import marker

            return marker.main(rest)
        case "escalate":
            return _print_escalation(rest)
        case _:
            print(f"Unknown action: {action!r}\n{USAGE}" if action else USAGE, file=sys.stderr)
            return 1


def _print_sprint(given: list[str]) -> int:
    match given:
        case ["get", key, *_]:
            return print_json(_status_fields(key))
        case ["exists", *_]:
            print("true" if story_verification.read_sprint_status(project.project_root())[0] else "false")
            return 0
        case ["check-epic", epic, *_]:
            return print_json(_epic_fields(epic))
        case ["get"]:
            raise UsageError("sprint-status get needs a story: sprint-status get 5.3")
        case ["check-epic"]:
            raise UsageError("sprint-status check-epic needs an epic: sprint-status check-epic 5")
        case _:
            raise UsageError("sprint-status is one of: get <story_key>, exists, check-epic <epic>")


def _status_fields(key: str) -> dict[str, object]:
    if not key.startswith("epic-"):
        project.check_story(key)
    where, text = story_verification.read_sprint_status(project.project_root())
    if not where:
        return {"found": False, "story": key, "status": "unknown", "done": False, "reason": NO_FILE}
    keys = bmad.find_keys(text, key) if not key.startswith("epic-") else [key] * (key in bmad.parse_statuses(text))
    if len(keys) == 1:
        status = bmad.parse_statuses(text)[keys[0]]
        return {"found": True, "story": keys[0], "status": status, "done": status in story_verification.DONE}
    if keys:
        why = f"{where} has {len(keys)} of that number: {', '.join(keys)}"
        return {"found": False, "story": key, "status": "ambiguous", "done": False, "reason": why}
    return {"found": False, "story": key, "status": "not_found", "done": False}


def _epic_fields(given: str) -> dict[str, object]:
    epic = project.check_epic(given)
    where, text = story_verification.read_sprint_status(project.project_root())
    told = bmad.stories_of_epic(text, epic)
    if not told:
        why = "no_stories_found" if where else NO_FILE
        return {"ok": False, "epic": epic, "allStoriesDone": False, "reason": why, "count": 0}
    done = sum(status in story_verification.DONE for status in told.values())
    return {
        "ok": True, "epic": epic, "allStoriesDone": done == len(told), "total": len(told), "done": done,
        "count": len(told), "stories": list(told),
    }  # fmt: skip


def _parse_log(given: list[str]) -> int:
    from midwatch.stories import parse

    path, step = [*given, "", ""][:2]
    try:
        project.check_step(step)
    except UsageError as error:
        return _print_untold(NO_STEP, str(error))
    try:
        text = parse.read_log_end(path)
    except MidwatchError as error:
        return _print_untold(NOT_READABLE, str(error) if path else "name the file: parse-output <file> <step>")
    try:
        command = parse.find_model_command(paths.project_root(project.project_root()))
    except MidwatchError as error:  # a settings file is wrong, or not trusted
        return _print_untold(CALL_FAILED, str(error))
    parsed = parse.parse_log(text, step, command)
    if parsed.trouble:
        return _print_untold(parsed.trouble.kind, parsed.trouble.detail)
    return print_json(format_parsed(parsed))


def format_parsed(parsed: ParsedLog) -> dict[str, object]:
    """A reading as scripts know it: the step's own keys stand between status and summary."""
    return {
        "status": parsed.status, **parsed.fields, "summary": parsed.summary, "next_action": parsed.next_action,
    }  # fmt: skip


def _print_untold(reason: str, detail: str) -> int:
    """Nobody knows what the log says: a person must look, and a script that only reads next_action learns it too."""
    print_json({"status": "error", "reason": reason, "detail": detail, "next_action": ESCALATE})
    return 1


def _print_escalation(given: list[str]) -> int:
    trigger, context = (given[0], " ".join(given[1:])) if given else ("", "")
    if not trigger:
        raise UsageError(f"escalate needs a trigger: {', '.join(TRIGGERS)}")
    if trigger not in TRIGGERS:
        return print_json({"escalate": False, "reason": "Unknown trigger"})
    key, variable, usual = TRIGGERS[trigger]
    pairs = dict(word.partition("=")[::2] for word in context.replace(",", " ").split())
    if key not in pairs:
        raise UsageError(f"escalate {trigger} needs its number: {key}=N")
    count = project.check_number(pairs[key], key, least=-project.MOST if key == "created" else 0)
    most = project.check_number(os.environ.get(variable) or str(usual), variable) if variable else 0
    match trigger:
        case "review-loop":
            why = next_action.find_review_limit(count, most)
        case "session-crash":
            why = next_action.find_crash_limit(count, most)
        case _:
            why = next_action.find_creation_problem(count)
    if why:
        return print_json({"escalate": True, "reason": why})
    return print_json({"escalate": False, "action": "retry"} if trigger == "session-crash" else {"escalate": False})


def print_json(document: dict[str, object]) -> int:
    print(dump(document))
    return 0
