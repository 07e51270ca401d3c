"""What the model says, and how long it takes for it."""

from __future__ import annotations

import time

import pytest

from tests.lab.server import script
from tests.unit.lab.client import Client

DONE = {"anthropic": "end_turn", "responses": "completed", "chat": "stop", "gemini": "STOP"}


def test_text_is_what_it_looks_like(client: Client, dialect: str) -> None:
    answer = client.ask(r"please [[text one\ntwo\tthree \[\[four\]\] \e[1m \\n “five”]]")
    assert answer.status == 200
    assert answer.streamed == client.stream
    assert answer.said.text == "one\ntwo\tthree [[four]] \x1b[1m \\n “five”"
    assert (answer.said.calls, answer.said.thought, answer.said.finish) == ((), "", DONE[dialect])
    assert answer.noted == client.course("text")


def test_a_prompt_without_a_script_is_greeted(client: Client, dialect: str) -> None:
    answer = client.ask("hello there")
    assert (answer.said.text, answer.said.finish) == (script.GREETING, DONE[dialect])
    began = answer.note("began")
    assert (began["prompt"], began["step"], began["main"], began["stream"]) == ("hello there", 0, True, client.stream)
    assert (began["api"], began["model"], began["tools"], began["session"]) == (
        dialect, "some-model", 3, client.session,
    )  # fmt: skip


def test_say_gives_words_that_do_not_stand_in_the_prompt(client: Client) -> None:
    (client.server.replies / client.session).write_text("first line\nsecond [[text x]] \\n line\n")
    answer = client.ask(f"[[say {client.session}]]")
    assert answer.said.text == "first line\nsecond [[text x]] \\n line\n"
    assert answer.noted == client.course("text")


def test_say_can_take_its_time(client: Client) -> None:
    (client.server.replies / client.session).write_text("one\ntwo\n")
    answer = client.ask(f"[[say {client.session} 0.03]]")
    assert answer.said.text == "one\ntwo\n"
    assert answer.seconds("text", "ended") >= 0.03


@pytest.mark.parametrize("name", ["nothing", "../outside", ".", "deep/inside"])
def test_say_knows_only_its_directory(client: Client, name: str) -> None:
    replies = client.server.replies
    (replies / "deep").mkdir(exist_ok=True)
    for other in (replies.parent / "outside", replies / "deep" / "inside"):
        other.write_text("a secret")
    answer = client.ask(f"[[say {name}]]")
    assert answer.said.text == f"There is no reply called {name}"
    assert answer.noted == client.course("text")


def test_think_is_reasoning_of_the_protocol_and_then_a_word(client: Client, dialect: str) -> None:
    answer = client.ask("[[think 0.03]]")
    assert "Considering point 1. " in answer.said.thought
    assert (answer.said.text, answer.said.finish) == ("Thinking done.", DONE[dialect])
    assert answer.noted == client.course("thinking", "text")
    assert answer.seconds("thinking", "text") >= 0.03


def test_slow_sends_nothing_but_signs_of_life(client: Client, dialect: str) -> None:
    answer = client.ask("[[slow 0.03]]")
    assert answer.said.text == "Slow reply done."
    assert answer.noted == client.course("text")
    if client.stream:
        assert answer.seconds("first-byte", "text") >= 0.03
        alive = [event.name for event in answer.events].count({"anthropic": "ping"}.get(dialect, ":"))
        assert alive == {"anthropic": 2, "gemini": 0}.get(dialect, 1)
    else:
        assert answer.seconds("began", "text") >= 0.03


def test_wait_sends_not_one_byte(client: Client) -> None:
    answer = client.ask("[[wait 0.03]]+[[text at last]]")
    assert answer.said.text == "at last"
    assert answer.noted == client.course("text")
    assert answer.seconds("began", "first-byte") >= 0.03


def test_wait_alone_ends_in_a_greeting(client: Client) -> None:
    answer = client.ask("[[wait 0.01]]")
    assert answer.said.text == script.GREETING
    assert answer.noted == client.course("text")


def test_stream_dribbles_words(client: Client) -> None:
    answer = client.ask("[[stream 0.03]]")
    assert answer.said.text == "word1 End of stream."
    assert answer.noted == client.course("text")
    assert answer.seconds("text", "ended") >= 0.03


def test_stream_dribbles_given_words(client: Client, dialect: str) -> None:
    answer = client.ask(r"[[stream 0.03 each of\nthese]]")
    assert answer.said.text == "each of\nthese "
    opening = {"anthropic": b"event: content_block_start", "responses": b"event: response.output_item.added"}
    if client.stream and dialect in opening:
        assert answer.raw.count(opening[dialect]) == 1, "pieces of one text are one text"
    assert answer.noted == client.course("text")
    assert answer.seconds("text", "ended") >= 0.03


PLAN = {
    "anthropic": {
        "anthropic-ratelimit-unified-status": "allowed_warning",
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
        "anthropic-ratelimit-unified-5h-utilization": "0.93",
        "anthropic-ratelimit-unified-5h-surpassed-threshold": "0.9",
        "anthropic-ratelimit-unified-7d-utilization": "0.4",
    },
    "responses": {
        "x-codex-primary-used-percent": "93.0", "x-codex-secondary-used-percent": "40.0",
        "x-codex-primary-window-minutes": "300", "x-codex-secondary-window-minutes": "10080",
    },
    "chat": {},
    "gemini": {},
}  # fmt: skip
RESET = {"anthropic": "anthropic-ratelimit-unified-5h-reset", "responses": "x-codex-primary-reset-at"}


def test_util_reports_the_plan_beside_words(client: Client, dialect: str) -> None:
    before = int(time.time())
    answer = client.ask("[[util 93 600]]")
    assert answer.said.text == "Plan usage reported."
    assert PLAN[dialect].items() <= answer.headers.items()
    if dialect in RESET:
        assert 600 <= int(answer.headers[RESET[dialect]]) - before <= 600 + (time.time() - before) + 1
    else:
        assert not [name for name in answer.headers if "limit" in name or "codex" in name]
    assert answer.noted == client.course("text")


@pytest.mark.parametrize(("percent", "status"), [("20", "allowed"), ("80", "allowed_warning"), ("100", "rejected")])
@pytest.mark.parametrize("dialect", ["anthropic"], indirect=True)
def test_util_says_how_near_the_limit_is(client: Client, percent: str, status: str) -> None:
    answer = client.ask(f"[[util {percent}]]+[[text fine]]")
    assert answer.headers["anthropic-ratelimit-unified-status"] == status
    assert (answer.said.text, answer.noted) == ("fine", client.course("text"))


def test_an_unknown_directive_is_told(client: Client) -> None:
    answer = client.ask("[[dance now]]")
    assert answer.said.text == "Unknown directive dance"
    assert answer.noted == client.course("text")


@pytest.mark.parametrize(
    "spoiled", ["[[think soon]]", "[[wait long]]", "[[status odd]]", "[[retryafter 500]]", "[[util much]]",
                "[[tool X {half]]", "[[limit soon]]", "[[stream x]]"],
)  # fmt: skip
def test_a_directive_that_cannot_be_read_is_told(client: Client, spoiled: str) -> None:
    answer = client.ask(spoiled)
    assert f"Cannot follow {spoiled}" in answer.said.text
    assert answer.noted == client.course("text")
