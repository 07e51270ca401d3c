"""Calls of tools, under the names and with the arguments that each agent knows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.lab.client import Answer, Client

DONE = {"anthropic": "tool_use", "responses": "completed", "chat": "tool_calls", "gemini": "STOP"}


def called(answer: Answer, client: Client, name: str, arguments: Any, introduction: str) -> None:
    """One call came, after some words, and the journal tells the same of it."""
    assert (answer.said.text, answer.said.calls) == (introduction, ((name, arguments),))
    assert answer.noted == client.course("text", "tool-call")
    noted = answer.note("tool-call")
    assert (noted["name"], noted["arguments"]) == (name, arguments)


COMMAND = "touch x; echo \"$((1+1))\" | tr '2' '3'"
SHELLS: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic": ("Bash", {"command": COMMAND, "description": "Run a test command"}),
    "responses": ("shell_command", {"command": COMMAND}),
    "chat": ("bash", {"command": COMMAND, "description": "Run a test command"}),
    "gemini": ("run_shell_command", {"command": COMMAND, "description": "Run a test command"}),
}


def test_bash_calls_the_shell_tool(client: Client, dialect: str) -> None:
    answer = client.ask(f"run it [[bash {COMMAND}]]")
    called(answer, client, *SHELLS[dialect], "I will run a command.")
    assert answer.said.finish == DONE[dialect]


def test_only_codex_is_asked_for_leave(client: Client, dialect: str) -> None:
    answer = client.ask(f"[[bash !{COMMAND}]]")
    name, arguments = SHELLS[dialect]
    if dialect == "responses":
        why = "Need to run this outside the sandbox"
        arguments = arguments | {"sandbox_permissions": "require_escalated", "justification": why}
    called(answer, client, name, arguments, "I will run a command.")


EXECUTE = {"cmd": COMMAND, "yield_time_ms": 30000}
PROGRAM = f"const r = await tools.exec_command({json.dumps(EXECUTE)}); text(JSON.stringify(r));"


@pytest.mark.parametrize(
    ("dialect", "offered", "arguments"),
    [
        ("responses", "exec_command", EXECUTE),
        ("responses", "exec", PROGRAM),
        ("responses", "shell", {"command": ["bash", "-lc", COMMAND]}),
        ("chat", "run_shell_command",
         {"command": COMMAND, "description": "Run a test command", "is_background": False}),
    ],
    indirect=["dialect"], ids=["exec_command", "exec", "shell", "run_shell_command"],
)  # fmt: skip
def test_the_shell_has_the_name_that_the_agent_offers(client: Client, offered: str, arguments: Any) -> None:
    answer = client.ask(f"[[bash {COMMAND}]]", tools=[offered, "other"])
    called(answer, client, offered, arguments, "I will run a command.")


PATCH = "*** Begin Patch\n*** Add File: new.txt\n+one\n+two\n*** End Patch\n"
WRITES: dict[str, tuple[str, Any]] = {
    "anthropic": ("Write", {"file_path": "new.txt", "content": "one\ntwo\n"}),
    "responses": ("apply_patch", PATCH),
    "chat": ("write", {"filePath": "new.txt", "content": "one\ntwo\n"}),
    "gemini": ("write_file", {"file_path": "new.txt", "content": "one\ntwo\n"}),
}


def test_write_calls_the_tool_that_writes(client: Client, dialect: str) -> None:
    answer = client.ask(r"[[write new.txt one\ntwo\n]]")
    called(answer, client, *WRITES[dialect], "I will write a file.")


@pytest.mark.parametrize(
    ("dialect", "offered", "name", "arguments"),
    [
        ("responses", "shell_command", "shell_command", {"command": f"apply_patch <<'EOF'\n{PATCH}EOF"}),
        ("chat", "write_file", "write_file", {"file_path": "new.txt", "content": "one\ntwo\n"}),
    ],
    indirect=["dialect"], ids=["codex", "qwen"],
)  # fmt: skip
def test_write_goes_by_what_is_offered(client: Client, offered: str, name: str, arguments: Any) -> None:
    answer = client.ask(r"[[write new.txt one\ntwo\n]]", tools=[offered])
    called(answer, client, name, arguments, "I will write a file.")


def test_write_without_content_writes_something(client: Client) -> None:
    answer = client.ask("[[write new.txt]]")
    assert "fake content" in json.dumps(answer.said.calls[0][1])
    assert answer.noted == client.course("text", "tool-call")


def question(asked: str, *labels: str) -> dict[str, Any]:
    options = [{"label": label, "description": f"Choose {label}"} for label in labels]
    return {"question": asked, "header": "Choice", "options": options}


ASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic": ("AskUserQuestion", {"multiSelect": False}), "responses": ("request_user_input", {"id": "choice"}),
    "chat": ("question", {}), "gemini": ("ask_user", {"type": "choice"}),
}  # fmt: skip


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (" Tea or coffee? | Tea | Black coffee", question("Tea or coffee?", "Tea", "Black coffee")),
        ("", question("Which one?", "Red", "Blue")),
    ],
    ids=["told", "untold"],
)
def test_ask_asks_the_user(client: Client, dialect: str, words: str, expected: dict[str, Any]) -> None:
    answer = client.ask(f"[[ask{words}]]")
    name, more = ASKS[dialect]
    called(answer, client, name, {"questions": [expected | more]}, "I have a question.")


@pytest.mark.parametrize("dialect", ["chat"], indirect=True)
def test_ask_asks_in_the_words_of_qwen(client: Client) -> None:
    answer = client.ask("[[ask Q | A]]", tools=["run_shell_command"])
    expected = {"questions": [question("Q", "A") | {"multiSelect": False}]}
    called(answer, client, "ask_user_question", expected, "I have a question.")


def test_tool_calls_any_tool_and_carries_scripts_of_others(client: Client) -> None:
    answer = client.ask('[[tool Task {"prompt": "((bash ls)) then ((text x))", "deep": {"list": [1, 2]}}]]')
    arguments = {"prompt": "[[bash ls]] then [[text x]]", "deep": {"list": [1, 2]}}
    called(answer, client, "Task", arguments, "I will call Task.")


def test_tool_without_arguments(client: Client) -> None:
    called(client.ask("[[tool Look]]"), client, "Look", {}, "I will call Look.")
