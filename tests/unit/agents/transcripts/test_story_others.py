"""Formats of which there is no whole sample: what the programs' published sources say that they write."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from midwatch.agents.agy.transcript import Agy
from midwatch.agents.codex.transcript import Codex
from midwatch.agents.gemini.transcript import Gemini
from midwatch.agents.opencode.transcript import OpenCode
from midwatch.agents.qwen.transcript import Qwen
from midwatch.agents.transcripts.transcript_state import TranscriptState, find_limit_end

Tell = Callable[..., TranscriptState]
WHEN = "2026-11-15T20:26:00.000Z"
HEADER = {"sessionId": "58fc8578-6f21-4613-9780-b39c33ccfb94", "projectHash": "ab" * 32, "startTime": WHEN}


def gemini(kind: str, content: object, number: str = "m", **more: object) -> dict[str, object]:
    return {"id": number, "timestamp": WHEN, "type": kind, "content": content, **more}


def tool(status: str) -> dict[str, object]:
    return {"id": "c1", "name": "run_shell_command", "status": status, "timestamp": "2026-11-15T20:26:05.000Z"}


def test_gemini_does_not_say_that_a_turn_is_over(told: Tell) -> None:
    story = told(Gemini, HEADER, gemini("user", [{"text": "hello"}]), gemini("gemini", "Hello.", "m2"))
    assert story.event == "text"
    assert story.conversation == HEADER["sessionId"]
    assert story.home == HEADER["projectHash"]
    assert not story.side


@pytest.mark.parametrize(
    ("status", "event", "open_"),
    [
        ("success", "tool-result", ""),
        ("error", "tool-result", ""),
        ("cancelled", "interrupted", ""),
        ("executing", "tool-call", "run_shell_command"),
        ("awaiting_approval", "tool-call", "run_shell_command"),
    ],
)
def test_gemini_tool_calls_by_status(status: str, event: str, open_: str, told: Tell) -> None:
    asked = gemini("gemini", "", "m2")
    story = told(Gemini, HEADER, gemini("user", "go"), asked, gemini("gemini", "", "m2", toolCalls=[tool(status)]))
    assert (story.event, story.words()["open"]) == (event, open_)
    assert story.at == 1794774365.0


def test_gemini_parts_that_call_and_answer(told: Tell) -> None:
    asked = gemini("gemini", [{"functionCall": {"id": "c1", "name": "edit", "args": {}}}])
    assert told(Gemini, HEADER, asked).words()["open"] == "edit"
    answer = gemini("user", [{"functionResponse": {"id": "c1", "name": "edit", "response": {}}}], "m3")
    assert told(Gemini, HEADER, asked, answer).event == "tool-result"


def test_gemini_errors_limits_and_cancelling(told: Tell) -> None:
    failed = told(Gemini, HEADER, gemini("user", "go"), gemini("error", "[API Error: 400 Bad Request]", "e"))
    assert (failed.event, failed.words()["message"]) == ("turn-failed", "[API Error: 400 Bad Request]")
    worded = "You have exhausted your capacity on this model. Your quota will reset after 19h14m47s."
    limit = told(Gemini, HEADER, gemini("error", worded, "e"))
    assert (limit.event, limit.words()["until"]) == ("limit", "in 19h14m47s")
    assert told(Gemini, HEADER, gemini("info", "Request cancelled.", "i")).event == "interrupted"
    assert told(Gemini, HEADER, gemini("user", "go"), gemini("info", "Update available", "i")).event == "prompt"


def test_gemini_patches_rewinds_and_what_it_says_itself(told: Tell) -> None:
    own = gemini("user", "<session_context>\nToday is …")
    assert told(Gemini, HEADER, own, {"$set": {"lastUpdated": WHEN}}).event == ""
    story = told(Gemini, HEADER, gemini("user", "go", "u1"), {"$rewindTo": "u1"}, {"$set": {"sessionId": "other"}})
    assert (story.event, story.conversation) == ("turn-ended", "other")
    assert told(Gemini, {**HEADER, "kind": "subagent"}).side


def test_gemini_tokens_are_those_of_the_last_writing(told: Tell) -> None:
    first, again = gemini("gemini", "x", tokens={"output": 5}), gemini("gemini", "x", tokens={"output": 7})
    assert (
        told(Gemini, HEADER, first, again, gemini("gemini", "y", "m2", tokens={"output": 3})).words()["tokens"] == "10"
    )


def test_gemini_older_files_are_one_object(told: Tell) -> None:
    messages = [gemini("user", "go"), gemini("gemini", "", "m2", toolCalls=[tool("success")])]
    assert told(Gemini, {**HEADER, "messages": messages}).event == "tool-result"


def codex(kind: str, **load: object) -> dict[str, object]:
    return {"timestamp": WHEN, "type": "event_msg", "payload": {"type": kind, **load}}


def test_codex_limit_by_message_and_by_window(told: Tell) -> None:
    error = {"codex_error_info": "usage_limit_exceeded"}
    worded = {**error, "message": "You've hit your usage limit. Upgrade to Pro or try again at 10:32 PM."}
    story = told(Codex, codex("task_started"), codex("task_complete", error=worded))
    assert (story.event, story.words()["until"]) == ("limit", "10:32 PM")
    full = {"primary": {"used_percent": 100.0, "resets_at": 1794780000}, "secondary": {"used_percent": 40.0}}
    counted = codex("token_count", info=None, rate_limits=full)
    story = told(Codex, codex("task_started"), counted, codex("task_complete", error={**error, "message": "Limit."}))
    assert (story.event, story.words()["until"]) == ("limit", "1794780000")


def test_codex_older_names_and_compaction(told: Tell) -> None:
    assert told(Codex, codex("user_message", message="hi")).event == "prompt"
    assert told(Codex, codex("turn_started"), codex("agent_message", message="hi")).event == "text"
    assert told(Codex, codex("turn_started"), codex("turn_complete")).event == "turn-ended"
    assert told(Codex, codex("context_compacted")).event == "compacted"
    assert told(Codex, {"timestamp": WHEN, "type": "compacted", "payload": {"message": "…"}}).event == "compacted"


def test_codex_threads_beside_the_users_own(told: Tell) -> None:
    def meta(**load: object) -> dict[str, object]:
        return {"timestamp": WHEN, "type": "session_meta", "payload": {"id": "t1", "cwd": "/p", **load}}

    assert not told(Codex, meta(source="cli")).side
    assert not told(Codex, meta(source="vscode", thread_source="user")).side
    assert told(Codex, meta(source="vscode", thread_source="subagent")).side
    assert told(Codex, meta(source={"subagent": "review"})).side
    forked = told(Codex, meta(), {"timestamp": WHEN, "type": "session_meta", "payload": {"id": "t0", "cwd": "/q"}})
    assert (forked.conversation, forked.home) == ("t1", "/p")


def qwen(kind: str, **more: object) -> dict[str, object]:
    return {"type": kind, "timestamp": WHEN, "cwd": "/p", **more}


def qwen_error(status: int, **more: object) -> dict[str, object]:
    event = {"event.name": "qwen-code.api_error", "error_type": "E", "error_message": "m", "status_code": status}
    return qwen("system", subtype="ui_telemetry", systemPayload={"uiEvent": {**event, **more}})


def test_qwen_may_try_again(told: Tell) -> None:
    story = told(Qwen, qwen("user"), qwen_error(429))
    assert (story.event, story.words()["error"], story.words()["status"]) == ("prompt", "E", "429")
    assert told(Qwen, qwen("user"), qwen_error(503)).event == "prompt"
    assert told(Qwen, qwen("user"), qwen_error(401)).event == "turn-failed"
    assert told(Qwen, qwen("user"), qwen_error(400, subagent_name="memory")).event == "prompt"


@pytest.mark.parametrize(("usage", "event"), [({"candidatesTokenCount": 4}, "turn-ended"), (None, "text")])
def test_qwen_writes_down_what_was_said_before_esc_too(told: Tell, usage: object, event: str) -> None:
    """As seen with 0.15.10 and 0.24.4: tokens are told only of an answer that came to its end."""
    answer = {"message": {"parts": [{"text": "word1 word2"}]}, **({"usageMetadata": usage} if usage else {})}
    assert told(Qwen, qwen("user"), qwen("assistant", **answer)).event == event


def test_qwen_calls_esc_before_the_first_word_an_error(told: Tell) -> None:
    aborted = qwen_error(0, error_type="APIUserAbortError", error_message="Request was aborted.", status_code=None)
    assert told(Qwen, qwen("user"), aborted).event == "interrupted"


def test_qwen_results_of_turns_and_other_marks(told: Tell) -> None:
    def ended(**load: object) -> TranscriptState:
        return told(Qwen, qwen("user"), qwen("system", subtype="turn_result", systemPayload=load))

    assert ended(state="completed").event == "turn-ended"
    assert ended(state="cancelled").event == "interrupted"
    failed = ended(state="error", error={"code": "E9", "message": "no"})
    assert (failed.event, failed.words()["error"]) == ("turn-failed", "E9")
    assert told(Qwen, qwen("system", subtype="chat_compression")).event == "compacted"
    assert told(Qwen, qwen("user"), qwen("assistant", isSidechain=True)).event == "prompt"
    assert told(Qwen, qwen("tool_result", toolCallResult={"status": "cancelled"})).event == "interrupted"


def test_agy_as_others_describe_it(told: Tell) -> None:
    def step(kind: str, **more: object) -> dict[str, object]:
        return {"step_index": 1, "type": kind, "created_at": WHEN, **more}

    asked = step("USER_INPUT", source="USER_EXPLICIT")
    planned = step("PLANNER_RESPONSE", source="MODEL", tool_calls=[{"name": "run_command"}, {"name": "view_file"}])
    assert told(Agy, asked).event == "prompt"
    assert told(Agy, asked, planned).words()["open"] == "run_command,view_file"
    ran = told(Agy, asked, planned, step("RUN_COMMAND", source="MODEL", status="DONE"))
    assert (ran.event, ran.words()["open"]) == ("tool-result", "view_file")
    said = step("PLANNER_RESPONSE", source="MODEL", content="Done.", status="DONE")
    assert told(Agy, asked, said).event == "turn-ended"
    assert told(Agy, asked, step("SYSTEM_MESSAGE", source="SYSTEM")).event == "prompt"


def message(role: str, parts: list[dict[str, object]] | None = None, **more: object) -> dict[str, object]:
    return {"role": role, "time": {"created": 1794774155431}, "parts": parts or [], **more}


def state(status: str, **more: object) -> dict[str, object]:
    moments = {"start": 1794774156000, "end": 1794774157000}
    return {"type": "tool", "callID": "c1", "tool": "bash", "state": {"status": status, "time": moments, **more}}


def refused(error: str) -> dict[str, object]:
    """A step whose only tool ended so; the model is not asked again after a bare refusal."""
    return message("assistant", [state("error", error=error)], time=DONE, finish="tool-calls")


DONE = {"created": 1794774156999, "completed": 1794774162722}


@pytest.mark.parametrize(
    ("last", "event", "open_", "at"),
    [
        (message("user", [{"type": "text", "text": "hello there"}]), "prompt", "", 1794774155.431),
        (message("user", [{"type": "compaction", "auto": True}]), "compacted", "", 1794774155.431),
        (message("assistant"), "prompt", "", 1794774155.431),
        (message("assistant", [{"type": "step-start"}]), "thinking", "", 1794774155.431),
        (message("assistant", [{"type": "text", "time": {"start": 1794774162609}}]), "text", "", 1794774162.609),
        (message("assistant", [state("pending")]), "tool-call", "bash", 1794774156.0),
        (message("assistant", [state("running")]), "tool-call", "bash", 1794774156.0),
        (message("assistant", [state("completed")]), "tool-result", "", 1794774157.0),
        (message("assistant", [state("error")], time=DONE, finish="tool-calls"), "tool-result", "", 1794774157.0),
        (message("assistant", time=DONE, finish="stop"), "turn-ended", "", 1794774162.722),
        (message("assistant", time=DONE, finish="stop", summary=True), "compacted", "", 1794774162.722),
        (message("assistant", [state("running")], error={"name": "MessageAbortedError"}), "interrupted", "", None),
        (message("assistant", time=DONE, error={"name": "APIError"}), "turn-failed", "", 1794774162.722),
        (message("assistant", time=DONE), "interrupted", "", 1794774162.722),
        (refused("The user rejected permission to use this specific tool call."), "interrupted", "", 1794774162.722),
        (refused("The user dismissed this question"), "interrupted", "", 1794774162.722),
        (
            refused("The user rejected permission to use this specific tool call with the following feedback: no"),
            "tool-result",
            "",
            1794774157.0,
        ),
    ],
)
def test_opencode_by_its_last_message(
    last: dict[str, object], event: str, open_: str, at: float | None, told: Tell
) -> None:
    story = told(OpenCode, last)
    assert (story.event, story.words()["open"]) == (event, open_)
    assert at is None or story.at == pytest.approx(at)


def test_opencode_errors_and_retries(told: Tell) -> None:
    error = {"name": "APIError", "data": {"message": "fake error 401", "statusCode": 401}}
    words = told(OpenCode, message("assistant", error=error)).words()
    assert (words["error"], words["status"], words["message"]) == ("APIError", "401", "fake error 401")
    trying = told(OpenCode, message("assistant", [{"type": "retry", "attempt": 2, "error": error}]))
    assert (trying.event, trying.words()["error"]) == ("prompt", "APIError")


@pytest.mark.parametrize(
    ("worded", "until"),
    [
        ("You've hit your session limit · resets 10:29pm (UTC)", "10:29pm (UTC)"),
        ("You've hit your weekly limit · resets Nov 17, 11:22pm (UTC)", "Nov 17, 11:22pm (UTC)"),
        ("5-hour limit reached ∙ resets 3pm", "3pm"),
        ("Claude AI usage limit reached|1751234567", "1751234567"),
        ("You've hit your usage limit. Try again at Nov 20th, 2026 10:33 PM.", "Nov 20th, 2026 10:33 PM"),
        ("Access resets at 8:00 PM PST.", "8:00 PM PST"),
        ("Your quota will reset after 19h14m47s.", "in 19h14m47s"),
        ("API Error: Request rejected (429) · Please try again later.", ""),
        ("The API is at capacity. Try again in a moment.", ""),
        ("", ""),
    ],
)
def test_until_as_the_source_words_it(worded: str, until: str) -> None:
    assert find_limit_end(worded) == until
