"""A notice in words, and the command that carries it."""

from __future__ import annotations

import re
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.config.codec import command_template
from midwatch.core import plain_text
from midwatch.core.errors import FormatError
from midwatch.core.exit_codes import NEXT
from midwatch.core.verdict import FINAL
from midwatch.notifications.codec import message_text
from midwatch.notifications.model import Change, ChangeSubject, Notification, NotificationState

SESSION = ChangeSubject("r", "claude", "%3", "work", "api", "midwatch attach api", ours=True)
FOREIGN = ChangeSubject("5-7", "claude", "%3", "work", "main", "tmux attach -t =main", ("-L", "x"))
FILED = 1000.0


def change(
    state: str,
    reason: str,
    about: ChangeSubject = ChangeSubject("r"),  # noqa: B008
    name: str = "build",
    cause: str = "",
    until: str = "",
) -> Change:
    final = state in FINAL
    return Change(name, about, state, final, reason, NEXT[state], 1.0, "b", 2.0, "/p", cause=cause, until=until)


def sent(change: Change, after: float = 0.0, **more: Any) -> str:
    """What is sent of a change that was filed a while ago."""
    fields = message_text.template_fields(change)
    notice = Notification("i", change.name, "r", fields, "c", "/p", FILED, began=FILED)._replace(**more)
    return message_text.delivered_fields(notice, FILED + after)["text"]


def test_a_job_is_told_in_one_line() -> None:
    failed = change("failed", "exit 2 after 41s")
    assert sent(failed) == "build failed: exit 2 after 41s (next: escalate)"
    assert sent(failed, 7 * 60) == "build failed: exit 2 after 41s (next: escalate, 7m ago)"


@pytest.mark.parametrize(
    ("state", "cause", "reason", "text"),
    [
        ("waiting", "permission", "it waits for a permission", "api waits for a permission (12s)"),
        ("limited", "limit", "it hit a limit, until 3pm", "api hit a limit, until 3pm (12s)"),
        ("waiting", "suspended", "suspended (by a signal)", "api waiting: suspended (by a signal) (12s)"),
        ("stuck", "no-progress", "no progress for 10m", "api stuck: no progress for 10m"),
        ("failed", "turn-failed", "its turn failed: API Error: 400", "api failed: its turn failed: API Error: 400"),
    ],
)
def test_a_session_is_told_by_its_name_since_when_and_how_to_get_there(
    state: str, cause: str, reason: str, text: str
) -> None:
    found = sent(change(state, reason, SESSION, cause=cause, until="3pm"), 12.4)
    assert found == f"{text} · midwatch attach api"


def test_a_pane_that_is_not_ours_is_told_with_its_place_and_reached_by_tmux() -> None:
    found = sent(change("waiting", "it waits", FOREIGN, "%3", "question"), 12)
    assert found == "main waits for an answer (claude in work, %3, 12s) · tmux attach -t =main"


def test_for_how_long_it_waits_is_reckoned_when_it_is_sent() -> None:
    waiting = change("waiting", "it waits", SESSION, cause="permission")
    assert sent(waiting, 9000) == "api waits for a permission (2h 30m) · midwatch attach api"
    assert sent(waiting, -9000) == "api waits for a permission (0s) · midwatch attach api"
    assert sent(waiting, 90, began=FILED - 30) == "api waits for a permission (2m) · midwatch attach api"


def test_a_reminder_says_that_it_still_is_so() -> None:
    waiting = change("waiting", "it waits", SESSION, cause="permission")
    assert sent(waiting, 1800, kind="reminder") == "api still waits for a permission (30m) · midwatch attach api"


def test_a_planned_limit_says_that_work_continues() -> None:
    limited = change("limited", "it hit a limit", SESSION, cause="limit", until="3pm")._replace(planned=True)
    assert sent(limited) == "api hit a limit, until 3pm; it continues then (0s) · midwatch attach api"


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (NotificationState("waiting", cause="trust", began=800.0),
         "continues after it waited 3m 20s for a word on trusting the folder"),
        (NotificationState("waiting", cause="interrupted", began=800.0), "continues after it waited 3m 20s"),
        (NotificationState("limited", began=800.0), "continues after a limit of 3m 20s"),
        (NotificationState("limited"), "continues after a limit"),
    ],
)  # fmt: skip
def test_work_that_continues_says_after_what(before: NotificationState, text: str) -> None:
    working = change("working", "a turn", SESSION)._replace(wall=1000.0)
    fields = message_text.template_fields(working, before)
    assert (fields["state"], fields["text"]) == ("continues", f"api {text} · midwatch attach api")


def test_however_long_the_reason_is_it_says_how_to_get_there() -> None:
    found = sent(change("waiting", "x" * 900, SESSION, cause="suspended"), 12)
    assert found.endswith("… (12s) · midwatch attach api")
    assert len(found) <= plain_text.LONGEST


def test_a_notice_of_an_earlier_release_is_sent_as_it_is() -> None:
    notice = Notification("i", "x", "r", {"text": "x failed", "state": "failed"}, "c", "/p", FILED)
    assert message_text.delivered_fields(notice, FILED + 900)["text"] == "x failed"


# Digests


def test_a_digest_lists_each_on_a_line_of_its_own() -> None:
    fields = message_text.digest_fields(["a failed", "b waits"], "came in the quiet hours")
    assert fields["text"] == "2 notifications came in the quiet hours: a failed; b waits"
    assert fields["lines"] == "2 notifications came in the quiet hours:\na failed\nb waits"
    assert (fields["name"], fields["state"]) == ("midwatch", "digest")


def test_a_long_digest_is_capped_and_says_how_many_more_there_are() -> None:
    fields = message_text.digest_fields([f"job{each} failed: {'x' * 300}" for each in range(25)], "")
    first, *lines, last = fields["lines"].splitlines()
    assert (first, len(lines), last.startswith("and 15 more: ")) == ("25 notifications:", 10, True)
    assert all(len(line) <= message_text.LINE for line in lines)
    assert (len(fields["text"]) <= plain_text.LONGEST, fields["text"].endswith("; and 15 more")) == (True, True)
    assert all(f"job{each} failed" in fields["text"] for each in range(10))


@given(st.lists(st.text(), min_size=1, max_size=40))
def test_whatever_is_in_a_digest_its_text_is_one_bounded_line(lines: list[str]) -> None:
    fields = message_text.digest_fields(lines, "")
    assert (fields["text"].isprintable(), len(fields["text"]) <= plain_text.LONGEST) == (True, True)
    assert len(fields["lines"].split("\n")) <= 12


# What is foreign


def test_what_the_agent_asks_is_told_in_its_own_words_without_keys_and_on_one_line() -> None:
    asked = change("waiting", "it waits for a permission", SESSION, cause="permission")
    key = "sk-" + "a1b2" * 6
    found = sent(asked._replace(message=f"approve Bash:\ncurl -H {key} \x1b[2J"))
    assert found.startswith("api waits for a permission: approve Bash: curl -H █")
    assert (key in found, found.isprintable()) == (False, True)


def test_a_pane_of_which_only_its_number_is_known_is_called_by_that() -> None:
    about = ChangeSubject("r", agent="claude")
    waiting = change("waiting", "it waits for an answer", about, "%3", "question")
    assert sent(waiting) == "%3 waits for an answer (claude, 0s)"


def test_keys_in_a_reason_are_hidden() -> None:
    key = "sk-" + "a1b2" * 6
    found = message_text.template_fields(change("failed", f"refused with {key} at token=abcdefgh"))
    assert key not in str(found)
    assert "abcdefgh" not in str(found)
    assert "refused with █" in found["text"]


@given(st.text(), st.text(max_size=20))
def test_whatever_is_said_it_is_one_bounded_line_that_is_no_option(reason: str, where: str) -> None:
    for value in message_text.template_fields(
        change("waiting", reason, SESSION._replace(where=where, session=where))
    ).values():
        assert value.isprintable()
        assert len(value) <= plain_text.LONGEST
        assert not value.startswith("-")
        value.encode()


# The command


def test_a_text_is_split_as_a_shell_would_and_a_list_is_taken_as_it_is() -> None:
    words = ("openclaw", "system", "event", "--text", "{text}", "--mode", "now")
    assert command_template.parse_template("openclaw system event --text {text} --mode now") == words
    assert command_template.parse_template("say 'to {name}:' \"$HOME\" ~") == ("say", "to {name}:", "$HOME", "~")
    assert command_template.parse_template(("say", "a b", "")) == ("say", "a b", "")


@pytest.mark.parametrize(
    "said",
    [
        "$(rm -rf ~)",
        "; x",
        "`x`",
        "a b",
        "'",
        '"',
        "\\",
        "{name}",
        "{{name}}",
        "{0}",
        "%s",
        "| x > y",
        "&& x",
        "*",
        "!1",
    ],
)
def test_what_is_filled_in_stays_one_word_and_is_not_looked_at_again(said: str) -> None:
    values = dict.fromkeys(command_template.FIELDS, said)
    assert command_template.fill_template(("say", "{text}", "x={reason}!", "{state}{next}"), values) == [
        "say", said, f"x={said}!", said + said,
    ]  # fmt: skip


def test_braces_that_are_no_field_are_letters() -> None:
    values = dict.fromkeys(command_template.FIELDS, "T")
    words = command_template.parse_template("""say '{"text": "{text}"}' {} '{ text }' '{{text}}' '{print $1}'""")
    assert command_template.fill_template(words, values) == [
        "say",
        '{"text": "T"}',
        "{}",
        "{ text }",
        "{text}",
        "{print $1}",
    ]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("say {txt}", r"no field \{txt\}; known are \{text\}, .*write \{\{txt\}\}"),
        ("say '{Text}'", "no field {Text}"),
        ("", "needs a program"),
        ((), "needs a program"),
        ((" ",), "needs a program"),
        ("{name} x", "not filled in"),
        ("say 'x", "close the quotes"),
        (("say", "a\0b"), "no NUL"),
        ("sh -c 'say {text}'", "sh would run 'say {text}' as code"),
        ("/bin/bash -lc 'say {text}'", "bash would run"),
        ("env X=1 python3 -c 'print(\"{reason}\")'", "python3 would run"),
        ("ssh host say {text}", "ssh would run"),
        ("sudo su me -c 'say {text}'", "su would run"),
        ("perl -e'say {text}'", "perl would run"),
        ("/usr/bin/node --eval=say({text})", "node would run"),
    ],
)
def test_a_command_that_cannot_be_filled_in_safely_is_an_error(given: str | tuple[str, ...], says: str) -> None:
    with pytest.raises(FormatError, match=says if "\\" in says else re.escape(says)):
        command_template.parse_template(given)


def test_a_shell_may_be_given_a_notice_as_a_word_of_its_own() -> None:
    words = command_template.parse_template("""sh -c 'say "$1"' sh {text}""")
    assert command_template.fill_template(words, dict.fromkeys(command_template.FIELDS, "$(x)"))[-1] == "$(x)"


@given(st.lists(st.text(string.printable), min_size=1, max_size=4), st.text(string.printable))
def test_any_list_is_a_template_or_an_error_and_keeps_its_words(words: list[str], said: str) -> None:
    try:
        found = command_template.parse_template(tuple(words))
    except FormatError:
        return
    assert len(command_template.fill_template(found, dict.fromkeys(command_template.FIELDS, said))) == len(words)


@pytest.mark.parametrize("given", ["ntfy://topic", "json://127.0.0.1:80/x?y=1", "mailto://u:p@h", "x+y.z://a"])
def test_a_url_is_taken_as_it_is(given: str) -> None:
    assert command_template.check_url(given) == given


@pytest.mark.parametrize("given", ["", "secret", "://secret", "1x://secret", "json://secret x", "json://secret\n"])
def test_what_is_no_url_is_an_error_that_does_not_repeat_it(given: str) -> None:
    with pytest.raises(FormatError, match="no URL") as error:
        command_template.check_url(given)
    assert "secret" not in str(error.value)
