"""Lines of the spool become events, whatever was cut out of them and whatever else stands in the file."""

import json
import shlex
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midwatch.agents.hooks import events as hooks_events
from midwatch.core.errors import FormatError
from tests.unit.agents.hooks.lines import line, recorded

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
payloads = st.dictionaries(st.text(), values, max_size=8)


def test_what_claude_told() -> None:
    first, *_, last = recorded("claude")
    assert (first.agent, first.name, first.pane, first.server) == ("claude", "SessionStart", "%0", "/home/dev/lab/tmux")
    assert first.words["reason"] == "startup"
    assert first.words["cwd"] == "/home/dev/work/proj"
    assert first.words["transcript"].endswith(f"/{first.conversation}.jsonl")
    assert last.up > first.up
    asked = next(each for each in recorded("claude") if each.name == "PermissionRequest")
    assert (asked.words["tool"], asked.words["permission_mode"]) == ("Bash", "default")
    failed = next(each for each in recorded("claude") if each.name == "StopFailure")
    assert (failed.words["error"], failed.words["message"]) == ("unknown", "API Error: 400 fake error 400")


def test_background_work_is_counted_and_nothing_else_is_guessed() -> None:
    stops = [each.words.get("background") for each in recorded("claude") if each.name == "Stop"]
    assert "1" in stops
    assert stops[-1] == "0"
    assert all("background" not in each.words for each in recorded("codex"))


def test_the_conversation_in_which_codex_looks_for_a_title_is_passed_over() -> None:
    lines = [json.loads(text.split("\t")[8]) for text in _texts("codex")]
    titles = {each["thread-id"] for each in lines if "title" in str(each.get("input-messages"))}
    assert titles, "the recording has such a conversation"
    events = recorded("codex")
    assert titles & {each.conversation for each in events} == set()
    assert [each.name for each in events if each.name == "agent-turn-complete"] == ["agent-turn-complete"]


def test_gemini_says_what_it_asks_for() -> None:
    asked = next(each for each in recorded("gemini") if each.name == "Notification")
    assert asked.words["notification"] == "ToolPermission"
    assert asked.kind == hooks_events.ASK


def test_a_session_that_opencode_began_for_a_sub_agent_is_its_child() -> None:
    children = [each for each in recorded("opencode") if each.child]
    assert {each.name for each in children} == {"session.status", "session.idle"}
    assert len({each.conversation for each in recorded("opencode")}) == 1


def _texts(agent: str) -> list[str]:
    from tests.unit.agents.hooks.lines import SPOOL  # noqa: PLC0415

    return [text for text in (SPOOL / f"{agent}.events").read_text().split("\n") if text]


# What was cut -------------------------------------------------------------------------------------------------------


def test_fields_before_and_after_a_long_text_are_kept() -> None:
    whole = json.dumps(
        {"session_id": "c", "hook_event_name": "Stop", "last_assistant_message": 'a, "b": {' * 900}
        | {"background_tasks": [{"id": "x, y"}, {"id": "z"}], "session_crons": []}
    )
    found = hooks_events.parse_event(line("claude", whole[:2800], end=whole[-1000:]))
    assert found is not None
    assert (found.name, found.conversation, found.words["background"]) == ("Stop", "c", "2")


@given(payloads, st.integers(0, 400), st.integers(0, 400), st.booleans())
@example({"a": "x,", "b": 1}, 5, 12, False)
def test_nothing_is_made_up_out_of_a_cut_payload(whole: dict[str, Any], head: int, tail: int, pretty: bool) -> None:
    text = json.dumps(whole, indent=1 if pretty else None)
    found = hooks_events.parse_payload(text[:head], text[head:][-tail:] if tail else "")
    assert all(key in whole and whole[key] == value for key, value in found.items())
    if head >= len(text):
        assert found == whole


# What is none -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "1\tclaude",
        line("claude", "no json"),
        line("claude", {}),
        line("", {"type": "Stop"}),
        "2" + line("x", {})[1:],
    ],
    ids=["empty", "brace", "short", "no-json", "no-name", "no-agent", "later-version"],
)
def test_a_torn_line_is_an_error_of_one_kind(text: str) -> None:
    with pytest.raises(FormatError):
        hooks_events.parse_event(text)


@given(st.text() | st.text('1\t{}":,[]\\ a%', max_size=40).map(lambda text: line("claude", text, end=text)))
@example(line("claude", "[" * 5000))
@example(line("claude", '{"hook_event_name": "Stop", "session_id": 7, "background_tasks": 3, "cwd": {}}'))
def test_whatever_a_line_holds_it_is_an_event_or_that_error(text: str) -> None:
    try:
        found = hooks_events.parse_event(text)
    except FormatError:
        return
    assert found is None or all(
        isinstance(word, str) for word in (found.name, found.conversation, *found.words.values())
    )


# What goes into settings --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/plain", "/with blank", "/it's", '/"double" $HOME `x` \\', "/new\nline", "/ümlaut"])
def test_the_command_line_survives_any_path(path: str) -> None:
    made = hooks_events.hook_command(f"{path}/hook.sh", path, "claude")
    assert shlex.split(made) == ["exec", "/bin/sh", f"{path}/hook.sh", path, "claude"]
    assert hooks_events.hook_arguments(f"{path}/hook.sh", path, "codex") == [
        "/bin/sh",
        f"{path}/hook.sh",
        path,
        "codex",
    ]


def test_the_plugin_is_told_its_spool() -> None:
    assert hooks_events.plugin_source('const spool = "SPOOL"\n', '/a "b"') == 'const spool = "/a \\"b\\""\n'
