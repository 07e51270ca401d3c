"""Every known defect of the published story-automators in commands that need no session, by name, and right here."""

from __future__ import annotations

import json
import subprocess
import time

import pytest

from tests.conftest import PATIENCE
from tests.integration.compat.automator import Automator

GOOD = {
    "status": "SUCCESS", "story_created": True, "story_file": "a.md", "summary": "s", "next_action": "proceed",
}  # fmt: skip
MARKER = ("orchestrator-helper", "marker")
CREATE = (*MARKER, "create", "--epic", "5", "--story", "5.3", "--remaining", "3")

# `marker check` prints two JSON documents, so that no reader of JSON can read it -----------------------------------


def test_a_marker_is_told_in_one_document_with_what_it_holds(automator: Automator) -> None:
    automator(*CREATE)
    said = automator.says(*MARKER, "check")
    assert (said["exists"], said["epic"], said["currentStory"], said["storiesRemaining"]) == (True, "5", "5.3", 3)


# The document names startedAt and calls a marker stale after 30 minutes; neither was ever built --------------------


@pytest.mark.parametrize(("minutes", "stale"), [(0, False), (29, False), (31, True), (-60, False)])
def test_a_marker_is_stale_half_an_hour_after_its_last_heartbeat(
    automator: Automator, minutes: int, stale: bool
) -> None:
    beat = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - minutes * 60))
    automator(*CREATE, "--heartbeat", beat)
    said = automator.says(*MARKER, "check")
    assert said["stale"] is stale
    assert said["startedAt"] == said["createdAt"]
    automator(*MARKER, "heartbeat")
    assert automator.says(*MARKER, "check")["stale"] is False


def test_a_marker_whose_heartbeat_says_nothing_is_not_taken_for_alive(automator: Automator) -> None:
    automator.put(".claude/.story-automator-active", '{"epic": "5", "heartbeat": "soon"}')
    said = automator.says(*MARKER, "check")
    assert (said["stale"], said["heartbeatAgeSeconds"]) == (True, None)


# A number that is none ends in a traceback, or counts as nothing ---------------------------------------------------


def test_a_number_of_stories_that_is_none_is_refused_in_words(automator: Automator) -> None:
    assert "--remaining" in automator.refuses(*CREATE, "--remaining", "many")


@pytest.mark.parametrize("context", ["", "cycles=x", "cycles=", "5", "retries=9"])
def test_a_review_loop_that_cannot_be_counted_is_never_called_fine(automator: Automator, context: str) -> None:
    assert "cycles" in automator.refuses("orchestrator-helper", "escalate", "review-loop", context)


# The model is shown the first 150 lines of a log, and so never its end ---------------------------------------------


def test_the_end_of_a_long_log_is_what_the_model_is_shown(automator: Automator) -> None:
    asked = automator.root / "asked.txt"
    automator.stand_in("claude", f"{{ cat; printf '%s\\n' \"$@\"; }} > '{asked}'\necho '{json.dumps(GOOD)}'")
    log = automator.put("log.txt", "".join(f"row {number} of it\n" for number in range(1, 100_001)))
    assert automator.says("orchestrator-helper", "parse-output", str(log), "create") == GOOD
    text = asked.read_text()
    assert "row 100000 of it" in text
    assert "row 99851 of it" in text
    assert "row 99850 of it" not in text
    assert "row 1 of it" not in text


# One of them prints whatever the model has said, with exit code 0 --------------------------------------------------


@pytest.mark.parametrize("answer", ["All went well.", '{"status":"SUCC', '{"status":"SUCCESS"}', "[1]", ""])
def test_an_answer_that_is_no_reading_is_not_passed_on(automator: Automator, answer: str) -> None:
    automator.stand_in("claude", f"cat > /dev/null\necho '{answer}'")
    log = automator.put("log.txt", "something\n")
    said = automator.says("orchestrator-helper", "parse-output", str(log), "create", code=1)
    assert (said["reason"], said["next_action"]) == ("sub-agent returned invalid json", "escalate")


def test_an_empty_log_is_no_success(automator: Automator) -> None:
    automator.stand_in("claude", f"cat > /dev/null\necho '{json.dumps(GOOD)}'")
    log = automator.put("log.txt", "")
    said = automator.says("orchestrator-helper", "parse-output", str(log), "create", code=1)
    assert said["reason"] == "output file not found or empty"


# The other refuses a good answer because it stands on several lines ------------------------------------------------


def test_an_answer_over_several_lines_in_a_fence_is_read(automator: Automator) -> None:
    automator.stand_in("claude", f"cat > /dev/null\ncat << 'END'\n```json\n{json.dumps(GOOD, indent=2)}\n```\nEND")
    log = automator.put("log.txt", "something\n")
    assert automator.says("orchestrator-helper", "parse-output", str(log), "create") == GOOD


# An instruction is left out of every prompt but the review's, or put into double quotes for the shell to expand -----


@pytest.mark.parametrize("step", ["create", "dev", "auto", "review", "retro"])
@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_an_instruction_is_part_of_every_prompt_and_no_shell_expands_it(
    automator: Automator, step: str, agent: str
) -> None:
    automator.stand_in(agent, 'for word; do :; done; printf "%s" "$word" > seen.txt')
    extra = """say "hi" $HOME `touch hurt` 'y' $(touch hurt)"""
    command = automator("tmux-wrapper", "build-cmd", step, "5" if step == "retro" else "5.3", "--agent", agent, extra)
    run = ["sh", "-c", command.out]
    subprocess.run(run, cwd=automator.root, env=automator.env, timeout=PATIENCE, check=True)
    assert (automator.root / "seen.txt").read_text().endswith("\n" + extra)
    assert not (automator.root / "hurt").exists()


# Codex is given a home of the same name for everybody, in a directory where everybody may write --------------------


def test_codex_keeps_its_own_home(automator: Automator) -> None:
    command = automator("tmux-wrapper", "build-cmd", "create", "5.3", "--agent", "codex").out
    assert "CODEX_HOME" not in command
    assert "/tmp" not in command.replace(str(automator.root), "")


# A story id that is none goes into the prompt, into file names and into patterns -----------------------------------


def test_a_story_that_is_none_gets_no_command(automator: Automator) -> None:
    automator.refuses("tmux-wrapper", "build-cmd", "create", "bad id!")


# AI_COMMAND is what build-cmd uses, but not what agent-cli says -----------------------------------------------------


def test_the_cli_that_is_told_is_the_one_that_is_used(automator: Automator) -> None:
    assert automator("tmux-wrapper", "agent-cli", AI_COMMAND="my-agent --yes").out == "my-agent --yes\n"


# The hash in the names of files differs with the way one came to the project ----------------------------------------


def test_one_project_has_one_hash_and_a_root_has_a_slug(automator: Automator) -> None:
    (automator.root.parent / "link").symlink_to(automator.root)
    here = automator("tmux-wrapper", "project-hash").out
    assert automator("tmux-wrapper", "project-hash", PROJECT_ROOT=str(automator.root.parent / "link")).out == here
    assert automator("tmux-wrapper", "project-slug", PROJECT_ROOT="/").out == "project\n"


# sprint-status is read by a pattern: a key that is the number alone, quotes and remarks are not understood ----------


@pytest.mark.parametrize("row", ["5-4: done", '"5-4": done', "5-4-x: 'done'", "5-4-x: done # at last", "5-4-x:  Done"])
def test_a_story_is_found_however_its_row_is_written(automator: Automator, row: str) -> None:
    automator.sprint("5-40-y: backlog", row)
    assert automator.says("orchestrator-helper", "sprint-status", "get", "5.4")["done"] is True


# A story is called validated though there is no file; a whole key counts nothing ------------------------------------


def test_a_creation_without_a_file_is_not_valid(automator: Automator) -> None:
    said = automator.says("validate-story-creation", "check", "5.3", "--before", "0", "--after", "1")
    assert (said["valid"], said["verified"], said["action"]) == (False, False, "escalate")


def test_a_whole_key_counts_the_files_of_its_story(automator: Automator) -> None:
    automator.story("5-3-third-thing")
    assert automator("validate-story-creation", "count", "5-3-third-thing").out == "1\n"


def test_an_action_that_is_none_is_not_taken_for_a_story(automator: Automator) -> None:
    assert "Usage: validate-story-creation" in automator.refuses("validate-story-creation", "nonsense")
