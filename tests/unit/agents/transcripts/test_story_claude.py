"""Claude Code's transcript beyond what the sample shows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from midwatch.agents.claude.transcript import Claude
from midwatch.agents.transcripts.transcript_state import TranscriptState

Tell = Callable[..., TranscriptState]
Line = dict[str, object]
WHEN = "2026-11-15T20:00:00.000Z"


def user(content: object, **more: object) -> Line:
    return {"type": "user", "timestamp": WHEN, "message": {"role": "user", "content": content}, **more}


def assistant(*blocks: Line, stop: str | None = "end_turn", model: str = "claude-x", **more: object) -> Line:
    message = {"id": "msg_1", "model": model, "content": list(blocks), "stop_reason": stop}
    return {"type": "assistant", "timestamp": WHEN, "message": message, **more}


def call(name: str, number: str) -> Line:
    return {"type": "tool_use", "id": number, "name": name, "input": {}}


def result(number: str) -> Line:
    return {"type": "tool_result", "tool_use_id": number, "content": "done"}


def said(text: str) -> Line:
    return {"type": "text", "text": text}


def system(kind: str, **more: object) -> Line:
    return {"type": "system", "subtype": kind, "timestamp": WHEN, **more}


def test_a_plan_limit_says_until_when(told: Tell) -> None:
    hit = said("You've hit your session limit · resets 10:29pm (UTC)")
    refused = assistant(hit, stop="stop_sequence", model="<synthetic>", error="rate_limit", isApiErrorMessage=True)
    words = told(Claude, user("go"), refused, system("turn_duration")).words()
    assert (words["event"], words["error"], words["until"]) == ("limit", "rate_limit", "10:29pm (UTC)")


def test_a_model_that_quotes_a_limit_has_none(told: Tell) -> None:
    words = told(Claude, user("go"), assistant(said("You've hit your session limit · resets 5pm"))).words()
    assert words["event"] == "turn-ended"
    assert "until" not in words
    assert "error" not in words


def test_calls_are_open_until_each_has_its_result(told: Tell) -> None:
    calls = [assistant(call("Bash", "a"), stop="tool_use"), assistant(call("Read", "b"), stop="tool_use")]
    assert told(Claude, user("go"), *calls).words()["open"] == "Bash,Read"
    assert told(Claude, user("go"), *calls, user([result("a")])).words()["open"] == "Read"
    assert told(Claude, user("go"), *calls, user([result("a"), result("b")])).words()["open"] == ""


def test_a_call_that_was_killed_is_not_open_in_the_next_turn(told: Tell) -> None:
    story = told(Claude, user("go"), assistant(call("Bash", "a"), stop="tool_use"), user("again"))
    assert (story.event, story.words()["open"]) == ("prompt", "")


def test_what_is_put_in_during_a_turn_leaves_calls_open(told: Tell) -> None:
    skill = user([said("Base directory for this skill: …")], isMeta=True)
    story = told(Claude, user("go"), assistant(call("Bash", "a"), call("Skill", "b"), stop="tool_use"), skill)
    assert story.words()["open"] == "Bash,Skill"


def test_sidechains_are_not_the_main_turn(told: Tell) -> None:
    side = assistant(said("done"), isSidechain=True)
    story = told(Claude, user("go"), assistant(call("Task", "a"), stop="tool_use"), side)
    assert (story.event, story.words()["open"]) == ("tool-call", "Task")


def test_older_versions_write_no_stop_reason(told: Tell) -> None:
    story = told(Claude, user("go"), assistant(said("hello"), stop=None))
    assert story.event == "text"
    story.take(b'{"type":"system","subtype":"turn_duration","timestamp":"2026-11-15T20:00:01Z"}')
    assert story.event == "turn-ended"


def test_thinking_is_not_the_end_whatever_its_stop_reason(told: Tell) -> None:
    assert told(Claude, assistant({"type": "thinking", "thinking": "…"})).event == "thinking"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<command-message>deploy</command-message>\n<command-name>/deploy</command-name>", "prompt"),
        ("<command-name>/model</command-name>\n<command-message>model</command-message>", "turn-ended"),
        ("<local-command-stdout>Set model</local-command-stdout>", "turn-ended"),
        ("<local-command-caveat>Caveat: …</local-command-caveat>", "turn-ended"),
        ("<bash-input>ls</bash-input>", "turn-ended"),
        ([{"type": "image", "source": {}}], "prompt"),
        ([], "turn-ended"),
        ("", "turn-ended"),
    ],
)
def test_only_what_is_sent_to_the_model_is_a_prompt(content: object, expected: str, told: Tell) -> None:
    assert told(Claude, user("go"), assistant(said("done")), user(content)).event == expected


def test_a_person_may_type_what_an_interruption_looks_like(told: Tell) -> None:
    text = "[Request interrupted by user]"
    assert told(Claude, user(text, promptSource="typed")).event == "prompt"
    assert told(Claude, user([said(text)])).event == "interrupted"


def test_an_interruption_leaves_nothing_open(told: Tell) -> None:
    story = told(
        Claude,
        user("go"),
        assistant(call("Bash", "a"), stop="tool_use"),
        user([said("[Request interrupted by user for tool use]")]),
        system("turn_duration"),
    )
    assert (story.event, story.words()["open"]) == ("interrupted", "")


def test_compaction(told: Tell) -> None:
    boundary = system("compact_boundary", compactMetadata={"trigger": "auto"})
    summary = user("This session is being continued …", isCompactSummary=True)
    assert told(Claude, user("go"), boundary, summary).event == "compacted"
    assert (
        told(Claude, user("go"), boundary, summary, assistant(call("Bash", "a"), stop="tool_use")).event == "tool-call"
    )


def test_a_duration_noted_late_does_not_end_the_next_turn(told: Tell) -> None:
    late = {"type": "system", "subtype": "turn_duration", "timestamp": "2026-11-15T19:59:59.900Z"}
    assert told(Claude, assistant(said("done")), user("next"), late).event == "prompt"


def test_shells_and_agents_in_the_background_are_counted(told: Tell) -> None:
    begun = user([result("a")], toolUseResult={"stdout": "", "backgroundTaskId": "boy77mfrf"})
    lines = [user("go"), assistant(call("Bash", "a"), stop="tool_use"), begun, assistant(said("started"))]
    pending = system("turn_duration", pendingBackgroundAgentCount=2, pendingWorkflowCount=1)
    assert told(Claude, *lines).words()["background"] == "1"
    assert told(Claude, *lines, pending).words()["background"] == "4"
    note = "<task-notification>\n<task-id>boy77mfrf</task-id>\n<status>completed</status>\n</task-notification>"
    story = told(Claude, *lines, system("turn_duration"), user(note))
    assert story.event == "prompt"
    assert "background" not in story.words()
    queued = {"type": "queue-operation", "operation": "enqueue", "timestamp": WHEN, "content": note}
    assert "background" not in told(Claude, *lines, queued).words()


def test_tokens_of_a_message_count_once_however_many_lines_it_has(told: Tell) -> None:
    def line(number: str, tokens: int) -> Line:
        message = {"id": number, "content": [said("x")], "usage": {"output_tokens": tokens}}
        return {"type": "assistant", "timestamp": WHEN, "message": message}

    assert told(Claude, line("m1", 5), line("m1", 42), line("m2", 10), line("m1", 42)).words()["tokens"] == "52"


def test_a_turn_that_was_cut_off_is_over_when_it_is_resumed(told: Tell) -> None:
    answer = assistant(said("No response requested."), stop="stop_sequence", model="<synthetic>")
    assert told(Claude, user("Continue from where you left off.", isMeta=True), answer).event == "turn-ended"


# From 2.1.234 on it may continue by itself when a limit has ended ----------------------------------------------------

HIT = assistant(
    said("You've hit your 5-hour limit · resets 6:16am (UTC)"),
    stop="stop_sequence", model="<synthetic>", error="rate_limit", isApiErrorMessage=True,
)  # fmt: skip
ARMED = system("informational", content="Usage limit reached · continuing automatically at 6:16am · esc to cancel")
CONTINUED = user(
    "Your claude.ai usage limit has reset. Continue the task you were working on when the limit was reached.",
    isMeta=True, promptSource="system", origin={"kind": "auto-continuation"},
)  # fmt: skip


def test_a_limit_after_which_it_continues_by_itself_says_when(told: Tell) -> None:
    words = told(Claude, user("go"), HIT, ARMED, system("turn_duration")).words()
    assert (words["event"], words["until"], words["continues"]) == ("limit", "6:16am (UTC)", "at 6:16am")


@pytest.mark.parametrize(
    "notice",
    [
        "Automatic continue cancelled · /rate-limit-options to re-arm",
        "Automatic continue was turned off · this task will not resume on its own",
        "Automatic continue stopped after repeated usage limit hits · This task will not resume on its own",
    ],
)
def test_a_limit_after_which_it_will_not_continue_is_still_one(told: Tell, notice: str) -> None:
    words = told(Claude, user("go"), HIT, ARMED, system("informational", content=notice)).words()
    assert (words["event"], words["until"]) == ("limit", "6:16am (UTC)")
    assert "continues" not in words


def test_an_automatic_continuation_is_a_new_turn(told: Tell) -> None:
    notice = system("informational", content="Usage limit reset · Continuing automatically")
    words = told(Claude, user("go"), HIT, ARMED, system("turn_duration"), notice, CONTINUED).words()
    assert words["event"] == "prompt"
    assert not {"continues", "until", "error"} & {*words}


def test_a_continuation_that_never_reached_the_model_leaves_a_turn_cut_off(told: Tell) -> None:
    notice = "Automatic continue did not run · the continuation was blocked before it reached the model"
    assert told(Claude, HIT, ARMED, system("informational", content=notice)).event == "interrupted"


def test_a_limit_that_ended_while_the_machine_slept_waits_for_a_person(told: Tell) -> None:
    notice = system("informational", content="Usage limit has reset · Press enter to continue")
    words = told(Claude, user("go"), HIT, ARMED, notice).words()
    assert words["event"] == "limit-over"
    assert not {"continues", "until"} & {*words}


def test_what_the_model_says_of_continuing_is_not_believed(told: Tell) -> None:
    quoted = said("Usage limit reached · continuing automatically at 6:16am")
    words = told(Claude, user("go"), assistant(quoted)).words()
    assert words["event"] == "turn-ended"
    assert "continues" not in words


def test_a_limit_whose_words_have_no_time_is_known_by_its_fields(told: Tell) -> None:
    refused = {**HIT, "message": {"content": [said("You've hit your limit")]}, "quotaLimits": {"resetsAt": 1794896187}}
    words = told(Claude, user("go"), refused).words()
    assert (words["event"], words["until"]) == ("limit", "1794896187")


EARLIER, LATER = "2026-11-15T19:59:59.900Z", "2026-11-15T20:00:01.000Z"


def test_the_first_prompt_of_a_file_may_stand_below_its_answer(told: Tell) -> None:
    """Seen with 2.1.197: a quick first turn is written in another order than it happened."""
    late = user("go") | {"timestamp": EARLIER}
    answered = [assistant(said("hello")), system("turn_duration"), late]
    assert told(Claude, *answered).words()["event"] == "turn-ended"
    following = user("again") | {"timestamp": LATER}
    assert told(Claude, *answered, following).words()["event"] == "prompt"


def test_a_later_prompt_that_was_queued_begins_a_turn_whenever_it_was_written(told: Tell) -> None:
    queued = user("and this") | {"timestamp": EARLIER}
    assert told(Claude, user("go"), assistant(said("hello")), queued).words()["event"] == "prompt"
