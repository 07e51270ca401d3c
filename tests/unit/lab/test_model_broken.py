"""Answers that never come, or not to their end; and agents that do not wait for it."""

from __future__ import annotations

import pytest

from tests.unit.lab.client import Client


def test_hang_never_answers(client: Client) -> None:
    with client.asking("[[hang]]") as exchange:
        exchange.until_noted("hang")
    assert exchange.answer.noted == ["began", "hang", "client-gone"]


def test_hangmid_falls_silent_in_the_middle(streaming: Client) -> None:
    words = "I begin to answer and then "
    with streaming.asking("[[hangmid]]") as exchange:
        exchange.read(until=words.encode())
        exchange.until_noted("hang")
    assert (exchange.answer.said.text, exchange.answer.said.finish) == (words, "")
    assert not exchange.answer.cut
    assert exchange.answer.noted == ["began", "first-byte", "text", "hang", "client-gone"]


def test_cut_closes_in_the_middle(streaming: Client) -> None:
    answer = streaming.ask("[[cut]]")
    assert answer.cut
    assert (answer.said.text, answer.said.finish) == ("This is cut o", "")
    assert answer.noted == ["began", "first-byte", "text", "cut"]


def test_streamerr_sends_an_error_in_the_middle(streaming: Client) -> None:
    answer = streaming.ask("[[streamerr rate_limit_error]]")
    assert (answer.status, answer.cut) == (200, False)
    assert (answer.said.text, answer.said.error, answer.said.finish) == (
        "Some text before the error.", "rate_limit_error", "",
    )  # fmt: skip
    assert answer.noted == ["began", "first-byte", "text", "stream-error"]
    assert answer.note("stream-error")["type"] == "rate_limit_error"


def test_streamerr_has_an_error_of_its_own(streaming: Client) -> None:
    answer = streaming.ask("[[streamerr]]")
    assert answer.said.error == answer.note("stream-error")["type"] == "overloaded_error"


@pytest.mark.parametrize(("script", "status"), [("[[cut]]", 500), ("[[hangmid]]", 500), ("[[streamerr x]]", 529)])
@pytest.mark.parametrize("stream", [False], indirect=True, ids=["whole"])
def test_who_does_not_stream_is_refused_instead(client: Client, script: str, status: int) -> None:
    answer = client.ask(script)
    assert answer.status == status
    assert answer.error[1]
    assert answer.noted == ["began", "first-byte", "error"]


def test_a_break_comes_after_what_is_joined_before_it(streaming: Client) -> None:
    answer = streaming.ask("[[think 0.01]]+[[bash ls]]+[[cut]]")
    assert answer.cut
    assert answer.noted == ["began", "first-byte", "thinking", "text", "tool-call", "cut"]


@pytest.mark.parametrize(
    ("script", "until", "noted"),
    [
        ("[[wait 60]]", "began", ["began"]),
        ("[[slow 60]]", "first-byte", ["began", "first-byte"]),
        ("[[think 60]]", "thinking", ["began", "first-byte", "thinking"]),
        ("[[stream 60 one two]]", "text", ["began", "first-byte", "text"]),
        ("[[bash ls]]+[[slow 60]]", "tool-call", ["began", "first-byte", "text", "tool-call"]),
    ],
    ids=["wait", "slow", "think", "stream", "tool"],
)
def test_an_agent_that_goes_away_is_noticed(client: Client, script: str, until: str, noted: list[str]) -> None:
    """Long before the time that the act was to take: the deadline of the client is shorter."""
    if not client.stream:
        noted = [event for event in noted if event != "first-byte"]
        until = noted[-1]
    with client.asking(script) as exchange:
        exchange.until_noted(until)
    assert exchange.answer.noted == [*noted, "client-gone"]


def test_words_come_before_the_answer_is_whole(streaming: Client) -> None:
    with streaming.asking("[[stream 60 first second]]") as exchange:
        exchange.read(until=b"first")
    assert b"second" not in exchange.answer.raw
    assert exchange.answer.noted == ["began", "first-byte", "text", "client-gone"]
