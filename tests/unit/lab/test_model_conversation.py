"""Scripts of several replies and of several acts, and whose turn it is."""

from __future__ import annotations

import threading

import pytest

from tests.lab.server import script
from tests.unit.lab.client import Answer, Client
from tests.unit.lab.speakers.anthropic import Anthropic
from tests.unit.lab.speakers.chat import Chat

SCRIPT = "do it [[bash ls]] [[bash pwd]] and [[text all done]]"


def command(answer: Answer) -> str:
    ((_, arguments),) = answer.said.calls
    return str(arguments["command"])


def test_replies_are_given_one_per_call(client: Client) -> None:
    first, second, third = (client.ask(SCRIPT, results=number) for number in range(3))
    assert (command(first), command(second)) == ("ls", "pwd")
    assert (third.said.text, third.said.calls) == ("all done", ())
    notes = [answer.note("began") for answer in (first, second, third)]
    assert [note["step"] for note in notes] == [0, 1, 2]
    assert [note["reply"] for note in notes] == [["[[bash ls]]"], ["[[bash pwd]]"], ["[[text all done]]"]]
    assert [note["prompt"] for note in notes] == [SCRIPT] * 3
    assert notes[0]["seq"] < notes[1]["seq"] < notes[2]["seq"]
    assert first.noted == second.noted == client.course("text", "tool-call")
    assert third.noted == client.course("text")


def test_after_the_script_every_tool_result_is_taken_politely(client: Client) -> None:
    answer = client.ask(SCRIPT, results=3)
    assert answer.said.text == script.AFTER_TOOL
    assert answer.note("began")["reply"] == [f"[[text {script.AFTER_TOOL}]]"]


def test_joined_acts_are_one_reply(client: Client) -> None:
    answer = client.ask("[[think 0.01]]+[[text first]]+[[wait 0.01]]+[[bash ls]]+[[bash pwd]] [[text later]]")
    said = answer.said
    assert (bool(said.thought), said.text) == (True, "first")
    assert [arguments["command"] for _, arguments in said.calls] == ["ls", "pwd"]
    assert answer.noted == client.course("thinking", "text", "tool-call", "tool-call")
    assert answer.note("began")["reply"] == [
        "[[think 0.01]]", "[[text first]]", "[[wait 0.01]]", "[[bash ls]]", "[[bash pwd]]",
    ]  # fmt: skip


def test_words_between_acts_part_them(client: Client) -> None:
    assert client.ask("[[text one]] + [[text two]]").said.text == "one"
    assert client.ask("[[text one]]+[[text two]]").said.text == "onetwo"


def test_acts_after_an_end_are_not_played(client: Client) -> None:
    answer = client.ask("[[status 400]]+[[text never]]")
    assert answer.status == 400
    assert answer.noted == client.course(last="error")


def test_a_request_without_tools_is_an_aside(client: Client) -> None:
    answer = client.ask(SCRIPT, tools=[])
    assert answer.said.text.startswith("Fake aux")
    assert answer.said.calls == ()
    assert answer.noted == client.course("text")
    assert {entry["main"] for entry in answer.journal} == {False}


@pytest.mark.parametrize("dialect", ["anthropic", "gemini"], indirect=True)
def test_an_aside_that_wants_json_gets_json(client: Client, dialect: str) -> None:
    body = client.speaker.request("a title as JSON", results=0, tools=[], stream=client.stream)
    body["generationConfig"] = {"responseMimeType": "application/json"}
    with client.sending(body) as exchange:
        exchange.read()
    key = {"anthropic": '"title"', "gemini": '"next_speaker"'}[dialect]
    assert key in exchange.answer.said.text


@pytest.mark.parametrize("dialect", ["anthropic"], indirect=True)
def test_a_prompt_that_comes_with_a_tool_result_is_a_new_one(client: Client) -> None:
    body = client.speaker.request(SCRIPT, results=1, tools=Anthropic.tools, stream=client.stream)
    body["messages"][-1]["content"].append({"type": "text", "text": "stop that [[text stopped]]"})
    with client.sending(body) as exchange:
        exchange.read()
    assert exchange.answer.said.text == "stopped"
    assert exchange.answer.note("began")["step"] == 0


@pytest.mark.parametrize("dialect", ["anthropic"], indirect=True)
def test_the_last_words_count_where_prompts_of_failed_turns_stay(client: Client) -> None:
    body = client.speaker.request("first [[status 500]]", results=0, tools=Anthropic.tools, stream=client.stream)
    body["messages"][0]["content"].append({"type": "text", "text": "second [[text fine]]"})
    with client.sending(body) as exchange:
        exchange.read()
    assert exchange.answer.said.text == "fine"


@pytest.mark.parametrize("dialect", ["chat"], indirect=True)
def test_the_last_part_of_a_message_counts(client: Client) -> None:
    """Qwen Code puts prompts of failed turns and reminders into one message with the prompt of now."""
    body = client.speaker.request("", results=0, tools=Chat.tools, stream=client.stream)
    words = ("first [[status 500]]", "<system-reminder>\nthe date\n</system-reminder>", "second [[text fine]]")
    body["messages"][-1]["content"] = [{"type": "text", "text": text} for text in words]
    with client.sending(body) as exchange:
        exchange.read()
    assert exchange.answer.said.text == "fine"
    assert exchange.answer.note("began")["prompt"] == words[-1]


def test_sessions_go_on_at_the_same_time(client: Client) -> None:
    """While one waits for ever the other is answered; each has its own story in the journal."""
    other = Client(client.server, client.speaker, client.session + "b", stream=client.stream)
    with client.asking("[[hang]]") as silent:
        silent.until_noted("hang")
        assert other.ask("[[text still here]]").said.text == "still here"
    assert silent.answer.noted == ["began", "hang", "client-gone"]


def test_many_at_once_do_not_mix(client: Client) -> None:
    answers: dict[str, Answer] = {}

    def ask(session: str) -> None:
        each = Client(client.server, client.speaker, session, stream=client.stream)
        answers[session] = each.ask(f"[[stream 0.02 {session} {session}]]")

    sessions = [f"{client.session}-{number}" for number in range(6)]
    threads = [threading.Thread(target=ask, args=[session]) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {session: answer.said.text for session, answer in answers.items()} == {
        session: f"{session} {session} " for session in sessions
    }
    numbers = {answer.note("began")["seq"] for answer in answers.values()}
    assert len(numbers) == len(sessions)
