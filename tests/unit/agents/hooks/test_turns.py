"""Of all that an agent tells, the last thing that says something of its turn is the answer."""

from collections.abc import Sequence

import pytest

from midwatch.agents.hooks import events as hooks_events
from midwatch.agents.hooks.events import HookEvent
from midwatch.agents.hooks.turns import derive_turn
from tests.unit.agents.hooks.lines import line, recorded, told


def answers(events: Sequence[HookEvent]) -> list[str]:
    """The answer after each event."""
    return [derive_turn(events[: at + 1]).words.get("event", "") for at in range(len(events))]


# Recorded from real agents ------------------------------------------------------------------------------------------


def test_claude_asks_works_and_ends() -> None:
    own = [each for each in recorded("claude") if each.pid == recorded("claude")[0].pid]
    assert answers(own[:7]) == [
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUse", "Stop",
    ]  # fmt: skip


def test_what_a_background_agent_of_claude_does_is_not_the_middle_of_a_turn() -> None:
    events = recorded("claude")
    ended = next(at for at, each in enumerate(events) if each.words.get("background") == "1")
    begun = next(at for at, each in enumerate(events) if at > ended and each.name == "UserPromptSubmit")
    assert {each.name for each in events[ended + 1 : begun]} == {"PostToolUse", "PostToolBatch", "SubagentStop"}
    assert set(answers(events)[ended:begun]) == {"Stop"}
    assert derive_turn(events[:begun]).words["background"] == "1"
    assert derive_turn(events[: ended + 1]).words["open"] == "1"


def test_compacting_is_no_new_session_and_clearing_is() -> None:
    events = recorded("claude")
    began = next(at for at, each in enumerate(events) if each.name == "PreCompact")
    assert answers(events)[began:] == [
        "PreCompact",
        "PreCompact",
        "PreCompact",
        "PostCompact",
        "SessionEnd",
        "SessionStart",
    ]
    assert derive_turn(events).words["reason"] == "clear"


def test_codex_is_interrupted() -> None:
    assert answers(recorded("codex")) == [
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop",
        "agent-turn-complete", "UserPromptSubmit", "Interrupt",
    ]  # fmt: skip


def test_gemini_waits_until_its_tool_has_run() -> None:
    assert answers(recorded("gemini")) == [
        "SessionStart", "BeforeAgent", "BeforeModel", "BeforeTool", "Notification", "AfterTool", "BeforeModel",
        "AfterAgent",
    ]  # fmt: skip


def test_qwen_tells_of_a_call_once_it_has_been_allowed() -> None:
    assert answers(recorded("qwen")) == [
        "SessionStart", "UserPromptSubmit", "PermissionRequest", "PermissionRequest", "PreToolUse", "PostToolUse",
        "UserPromptSubmit", "Stop", "Stop",
    ]  # fmt: skip
    assert derive_turn(recorded("qwen")).words["notification"] == "idle_prompt"


def test_the_end_of_a_sub_agent_of_opencode_is_not_the_end_of_the_turn() -> None:
    events = recorded("opencode")
    children = [at for at, each in enumerate(events) if each.child]
    assert {answers(events)[at] for at in children} == {"tool.execute.before"}
    assert answers(events)[-1] == "session.idle"
    asked = [each for each in answers(events) if each.endswith(".asked")]
    assert asked == ["permission.asked", "question.asked"]


# What only looks like an end, or like work ---------------------------------------------------------------------------


@pytest.mark.parametrize("late", ["MessageDisplay", "PostToolBatch", "SubagentStop", "AfterModel", "SomethingNew"])
def test_what_says_nothing_of_the_turn_changes_nothing_but_the_sign_of_life(late: str) -> None:
    found = derive_turn([told("UserPromptSubmit"), told("Stop", background_tasks=[]), told(late)])
    assert (found.words["event"], found.words["latest"], found.words["count"]) == ("Stop", late, "3")


def test_a_reminder_is_told_beside_the_answer() -> None:
    found = derive_turn([told("Stop"), told("Notification", notification_type="idle_prompt")])
    assert (found.words["event"], found.words["notification"]) == ("Stop", "idle_prompt")


def test_an_agent_that_tells_nothing_of_its_turn_has_no_answer() -> None:
    found = derive_turn([told("MessageDisplay")])
    assert (found.event, found.words) == (None, {})
    assert derive_turn([]).latest is None


# Questions ----------------------------------------------------------------------------------------------------------


def test_a_tool_that_ends_does_not_answer_for_the_one_that_waits() -> None:
    events = [
        told("UserPromptSubmit"),
        told("PreToolUse", tool_name="Read", tool_use_id="1"),
        told("PreToolUse", tool_name="Bash", tool_use_id="2"),
        told("PermissionRequest", tool_name="Bash"),
        told("PostToolUse", tool_name="Read", tool_use_id="1"),
        told("PostToolUse", tool_name="Bash", tool_use_id="2"),
    ]
    assert answers(events)[3:] == ["PermissionRequest", "PermissionRequest", "PostToolUse"]


def test_another_call_of_the_same_tool_does_not_answer_either() -> None:
    events = [
        told("PreToolUse", tool_name="Bash", tool_use_id="1"),
        told("PermissionRequest", tool_name="Bash"),
        told("PreToolUse", tool_name="Bash", tool_use_id="2"),
    ]
    assert derive_turn(events).words["event"] == "PermissionRequest"


def test_a_result_whose_id_was_cut_off_still_answers() -> None:
    events = [
        told("PreToolUse", tool_name="Bash", tool_use_id="2"),
        told("PermissionRequest", tool_name="Bash"),
        told("PostToolUse", tool_name="Bash"),
    ]
    assert derive_turn(events).words["event"] == "PostToolUse"
    assert derive_turn(events).words["open"] == "0"


@pytest.mark.parametrize(
    "after", ["PreModelRequest", "PostToolBatch", "Stop", "StopFailure", "UserPromptSubmit", "Interrupt"]
)
def test_a_question_is_over_when_the_model_goes_on_or_the_turn_does_not(after: str) -> None:
    asked = [told("PreToolUse", tool_name="Bash", tool_use_id="2"), told("PermissionRequest", tool_name="Bash")]
    assert derive_turn([*asked, told(after)]).words["event"] != "PermissionRequest"
    assert derive_turn(asked).words["event"] == "PermissionRequest"


def test_a_sub_agents_question_stops_everything_until_its_tool_has_run() -> None:
    events = [
        told("Stop", background_tasks=[{}]),
        told("PreToolUse", child="k", tool_name="Bash", tool_use_id="2"),
        told("PermissionRequest", child="k", tool_name="Bash"),
        told("PostToolUse", child="k", tool_name="Bash", tool_use_id="2"),
    ]
    assert answers(events) == ["Stop", "Stop", "PermissionRequest", "Stop"]


def test_a_sub_agents_question_outlives_the_turn_but_not_the_next_prompt() -> None:
    asked = [told("UserPromptSubmit"), told("PermissionRequest", child="k", tool_name="Bash")]
    assert derive_turn([*asked, told("Stop")]).words["event"] == "PermissionRequest"
    assert derive_turn([*asked, told("UserPromptSubmit")]).words["event"] == "UserPromptSubmit"
    assert derive_turn([*asked, told("SubagentStop", child="k")]).words["event"] == "UserPromptSubmit"


def test_a_notification_of_a_question_counts_where_no_other_event_told_of_it() -> None:
    notice = told("Notification", notification_type="permission_prompt")
    assert derive_turn([told("PreToolUse", tool_name="Bash", tool_use_id="2"), notice]).words["event"] == "Notification"
    asked = [told("PreToolUse", tool_name="Bash", tool_use_id="2"), told("PermissionRequest", tool_name="Bash"), notice]
    assert derive_turn(asked).words["event"] == "PermissionRequest"
    assert derive_turn(asked).words["notification"] == "permission_prompt"


# Words --------------------------------------------------------------------------------------------------------------


def test_words_that_last_are_kept_from_earlier_events() -> None:
    found = derive_turn(
        [told("UserPromptSubmit", permission_mode="plan", cwd="/x"), told("StopFailure", error="rate_limit")]
    )
    assert (found.words["permission_mode"], found.words["cwd"], found.words["error"]) == ("plan", "/x", "rate_limit")


def opencode(name: str, **fields: object) -> HookEvent:
    found = hooks_events.parse_event(line("opencode", {"hook_event_name": name, "session_id": "s"} | fields))
    assert found is not None
    return found


def test_an_error_is_told_with_the_idleness_that_follows_it_and_not_with_the_next() -> None:
    busy, idle = opencode("session.status", status="busy"), opencode("session.status", status="idle")
    failed = [busy, opencode("session.error", error="APIError", message="no"), idle, opencode("session.idle")]
    assert (derive_turn(failed).words["error"], derive_turn(failed).words["message"]) == ("APIError", "no")
    assert "error" not in derive_turn([*failed, busy]).words
    assert "error" not in derive_turn([*failed, busy, idle]).words


def test_a_retry_says_when() -> None:
    found = derive_turn([opencode("session.status", status="retry", retry_attempt=2, retry_next=1794794341.491)])
    assert (found.words["status"], found.words["retry_attempt"]) == ("retry", "2")
    assert found.words["retry_next"] == "1794794341.491"


def notified(kind: str) -> HookEvent:
    return told("Notification", notification_type=kind, message="…")


def test_claude_continues_by_itself_after_a_limit() -> None:
    failed = told("StopFailure", error="rate_limit")
    events = [failed, notified("quota_auto_resume_fired"), notified("idle_prompt")]
    words = derive_turn(events).words
    assert (words["event"], words["notification"], words["latest"]) == (
        "Notification", "quota_auto_resume_fired", "Notification",
    )  # fmt: skip


def test_that_claude_will_not_continue_by_itself_does_not_end_its_limit() -> None:
    failed = told("StopFailure", error="rate_limit")
    assert derive_turn([failed, notified("quota_auto_resume_disabled")]).words["event"] == "StopFailure"


def test_claude_slept_through_the_end_of_its_limit() -> None:
    failed = told("StopFailure", error="rate_limit")
    words = derive_turn([failed, notified("quota_auto_resume_stale")]).words
    assert (words["event"], words["notification"]) == ("Notification", "quota_auto_resume_stale")
