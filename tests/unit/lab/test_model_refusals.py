"""Errors in place of an answer: of the server, of an API key that asks too often, of a plan that is used up."""

from __future__ import annotations

import calendar
import time
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from tests.unit.lab.client import Answer, Client

TYPES = {
    "anthropic": {
        400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error", 500: "api_error",
        529: "overloaded_error",
    },
    "responses": {
        400: "invalid_request_error", 401: "invalid_api_key", 429: "rate_limit_exceeded", 500: "server_error",
        529: "server_error",
    },
    "chat": {
        400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error", 500: "server_error",
        529: "server_error",
    },
    "gemini": {
        400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 529: "UNKNOWN",
    },
}  # fmt: skip


def refused(answer: Answer, dialect: str, status: int) -> None:
    """A refusal of this status came, the same to those who stream, and the journal holds all of it."""
    assert (answer.status, answer.streamed) == (status, False)
    assert answer.noted == ["began", "first-byte", "error"]
    noted = answer.note("error")
    assert (noted["status"], noted["body"]) == (status, answer.body)
    assert noted["headers"].items() <= answer.headers.items()
    if dialect == "gemini":
        assert answer.body["error"]["code"] == status


def details(answer: Answer, kind: str) -> dict[str, Any]:
    """What Google says beside an error."""
    (found,) = (each for each in answer.body["error"]["details"] if each["@type"].endswith(f".{kind}"))
    return dict(found)


@pytest.mark.parametrize("status", [400, 401, 429, 500, 529])
def test_status_refuses_for_ever(client: Client, dialect: str, status: int) -> None:
    for _ in range(2):
        answer = client.ask(f"[[status {status}]]")
        refused(answer, dialect, status)
        assert answer.error[0] == TYPES[dialect][status]
        assert answer.error[1]
        assert "retry-after" not in answer.headers


def test_status_can_fail_a_few_times(client: Client, dialect: str) -> None:
    first, second, third = (client.ask("[[status 503 2]]") for _ in range(3))
    refused(first, dialect, 503)
    refused(second, dialect, 503)
    assert third.said.text == "Recovered after 2 errors."
    assert third.noted == client.course("text")


def test_status_goes_on_with_what_is_joined_to_it(client: Client, dialect: str) -> None:
    first, second = (client.ask("[[status 503 1]]+[[bash ls]]") for _ in range(2))
    refused(first, dialect, 503)
    assert [arguments["command"] for _, arguments in second.said.calls] == ["ls"]
    assert second.noted == client.course("text", "tool-call")


def test_failures_are_counted_per_session_and_prompt(client: Client, dialect: str) -> None:
    other = Client(client.server, client.speaker, client.session + "b", stream=client.stream)
    refused(client.ask("[[status 500 1]]"), dialect, 500)
    refused(other.ask("[[status 500 1]]"), dialect, 500)
    refused(client.ask("again [[status 500 1]]"), dialect, 500)
    assert client.ask("[[status 500 1]]").said.text == "Recovered after 1 errors."


def test_retryafter_says_when_to_come_again(client: Client, dialect: str) -> None:
    answer = client.ask("[[retryafter 503 7]]")
    refused(answer, dialect, 503)
    if dialect == "gemini":
        assert details(answer, "RetryInfo")["retryDelay"] == "7s"
    else:
        assert answer.headers["retry-after"] == "7"


def test_ratelimit_is_that_of_a_key(client: Client, dialect: str) -> None:
    before = time.time()
    answer = client.ask("[[ratelimit 90]]")
    refused(answer, dialect, 429)
    assert answer.error[0] == TYPES[dialect][429]
    if dialect == "gemini":
        assert details(answer, "RetryInfo")["retryDelay"] == "90s"
        return
    assert answer.headers["retry-after"] == "90"
    if dialect == "anthropic":
        assert answer.headers["anthropic-ratelimit-requests-remaining"] == "0"
        ends = answer.headers["anthropic-ratelimit-requests-reset"]
        seconds = calendar.timegm(time.strptime(ends, "%Y-%m-%dT%H:%M:%SZ")) - before
        assert 88 <= seconds <= 90 + (time.time() - before)
    else:
        assert answer.headers["x-ratelimit-remaining-requests"] == "0"
        assert answer.headers["x-ratelimit-reset-requests"] == "90s"


@pytest.mark.parametrize("weekly", [False, True], ids=["session", "weekly"])
def test_limit_is_that_of_a_plan(client: Client, dialect: str, weekly: bool) -> None:
    before = int(time.time())
    answer = client.ask("[[limit 1800 weekly]]" if weekly else "[[limit 1800]]")
    refused(answer, dialect, 429)

    def soon(resets_at: str) -> bool:
        return 0 <= int(resets_at) - before - 1800 <= time.time() - before

    if dialect == "anthropic":
        unified = "anthropic-ratelimit-unified-"
        told = {name.removeprefix(unified): value for name, value in answer.headers.items() if unified in name}
        spoken, silent = ("7d", "5h") if weekly else ("5h", "7d")
        assert (told["status"], told["overage-status"]) == ("rejected", "rejected")
        assert told["representative-claim"] == ("seven_day" if weekly else "five_hour")
        assert (told[f"{spoken}-status"], told[f"{silent}-status"]) == ("rejected", "allowed")
        assert (told[f"{spoken}-utilization"], told[f"{silent}-utilization"]) == ("1.0", "0.4")
        assert soon(told["reset"])
        assert soon(told[f"{spoken}-reset"])
        assert answer.headers["x-should-retry"] == "false"
        assert 1798 <= int(answer.headers["retry-after"]) <= 1800
    elif dialect == "responses":
        spoken = "secondary" if weekly else "primary"
        assert answer.error[0] == "usage_limit_reached"
        assert answer.headers[f"x-codex-{spoken}-used-percent"] == "100.0"
        assert soon(answer.headers[f"x-codex-{spoken}-reset-at"])
        assert soon(answer.body["error"]["resets_at"])
        assert 1798 <= answer.body["error"]["resets_in_seconds"] <= 1800
    elif dialect == "chat":
        assert 1798 <= int(answer.headers["retry-after"]) <= 1800
    else:
        (violation,) = details(answer, "QuotaFailure")["violations"]
        assert "PerDay" in violation["quotaId"]
        assert 1798 <= int(details(answer, "RetryInfo")["retryDelay"].removesuffix("s")) <= 1800


def test_the_answer_is_dated_by_the_clock_of_the_limits(client: Client) -> None:
    """Agents reckon a limit's end from the date header, where the clocks differ."""
    answer = client.ask("[[limit 60]]")
    assert abs(parsedate_to_datetime(answer.headers["date"]).timestamp() - answer.note("error")["t"]) < 2


def test_a_refusal_after_words_is_an_error_within_the_stream(client: Client, dialect: str) -> None:
    answer = client.ask("[[text so far]]+[[status 503]]")
    if client.stream:
        assert (answer.status, answer.said.text, answer.said.error) == (200, "so far", "overloaded_error")
        assert answer.said.finish == ""
        assert answer.noted == client.course("text", last="stream-error")
    else:
        assert (answer.status, answer.error[0]) == (503, {"gemini": "UNAVAILABLE"}.get(dialect, answer.error[0]))
        assert answer.noted == client.course("text", last="error")
