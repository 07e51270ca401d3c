"""What a recording must not give away."""

from __future__ import annotations

import pytest

from midwatch.core import verdict_json
from midwatch.core.foreign_text import ForeignText
from midwatch.core.redaction import HIDDEN, HINTS, Redactor, redact, redact_words
from midwatch.core.verdict import Verdict
from midwatch.integrations.mqtt.codec import messages
from midwatch.journal import codec as journal_codec
from midwatch.notifications.codec import message_text
from midwatch.notifications.model import Change, ChangeSubject

REDACTOR = Redactor(("/home/ada", "/home/ada/deep/home", ""))


@pytest.mark.parametrize(
    "key",
    [
        "sk-ant-api03-abcdefghijklmnop_QRSTUV",
        "sk-proj-abcdefghijklmnopqrstuvwx",
        "AIza" + "B" * 35,
        "ghp_" + "a1" * 18,
        "xoxb-1234567890-abcdef",
        "AKIAABCDEFGHIJKLMNOP",
        "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
    ],
)
def test_a_key_is_hidden_and_keeps_its_length(key: str) -> None:
    assert REDACTOR.clean(f"│ key {key} │") == f"│ key {HIDDEN * len(key)} │"


@pytest.mark.parametrize("words", ["Bearer abcdef123456", "https://x/?api_key=abcdef123456", "PASSWORD=hunter2222"])
def test_what_follows_such_a_word_is_hidden(words: str) -> None:
    assert HIDDEN * 9 in REDACTOR.clean(words)


@pytest.mark.parametrize("words", ["risk-averse", "task-1234567890abcdef is done", "skip", "the token is spent"])
def test_plain_words_stay(words: str) -> None:
    assert REDACTOR.clean(words) == words


def test_homes_are_renamed_the_longest_first_and_only_whole_names() -> None:
    assert REDACTOR.clean("/home/ada/x /home/ada/deep/home/y /home/adam") == "/home/user/x /home/user/y /home/adam"


PLANTED = "pl4nted-v4lue-of-n0body"
SHAPES = {
    "an option": f"curl --token {PLANTED} x",
    "an option with =": f"tool --db-password={PLANTED}",
    "a quoted option": f"tool --password '{PLANTED} {PLANTED}'",
    "a variable": f"PGPASSWORD={PLANTED} psql",
    "a key's variable": f"AWS_SECRET_ACCESS_KEY={PLANTED} aws s3 ls",
    "a variable that is exported": f"export MY_API_KEY='{PLANTED}'",
    "another": f"MYSQL_PWD={PLANTED} mysql",
    "a URL with a password": f"git clone https://ann:{PLANTED}@example.test/x",
    "a URL with a token": f"git clone https://{PLANTED}@example.test/x",
    "a query": f"http://127.0.0.1:9/?api_key={PLANTED}&x=1",
    "a header": f"curl -H 'Authorization: Bearer {PLANTED}' x",
    "a basic header": f"Authorization: Basic {PLANTED}",
    "another header": f"X-Api-Key: {PLANTED}",
    "JSON": f'{{"secret": "{PLANTED}", "x": 1}}',
    "YAML": f"password: {PLANTED}",
    "curl's user": f"curl -u ann:{PLANTED} x",
    "a web hook": f"https://hooks.slack.com/services/T0/B0/{PLANTED}",
    "sshpass": f"sshpass -p {PLANTED} ssh host",
    "a private key": f"-----BEGIN PRIVATE KEY-----\n{PLANTED.replace('-', '/')}\n-----END PRIVATE KEY-----",
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_a_secret_of_each_shape_is_hidden(text: str) -> None:
    found = redact(text)
    assert PLANTED not in found
    assert PLANTED.replace("-", "/") not in found
    assert len(found) == len(text)
    assert redact(found) == found


@pytest.mark.parametrize(
    "text",
    ["PWD=/home/ann", "max_tokens: 100", "--pass-through 5", "compass=3", "--no-password x", "key=5", "https://h:80/x",
     "mail ann@example.test", "tool -u ann", "tokens=5 used", "https://example.test/a@b"],
)  # fmt: skip
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert redact(text) == text


def test_a_word_behind_such_an_option_is_its_value() -> None:
    words = ["curl", "--token", "a b", "-u", "ann:pw", "--password=xx", "x", "-H", "Authorization: Bearer zzz"]
    told = ["curl", "--token", "███", "-u", "ann:██", "--password=██", "x", "-H", "Authorization: Bearer ███"]
    assert redact_words(words) == told


def test_a_long_text_does_not_take_long_to_clean() -> None:
    """Counted in steps of the pattern's own: such a text of a hostile pane would take minutes if they were squared."""
    begun = "-----BEGIN PRIVATE KEY-----"
    for text in (
        "a" * 200_000 + " token", "-a" * 100_000 + " token", "eyJ" * 60_000, "password" * 25_000,
        begun * 40_000, f"{begun}a-b" * 40_000, begun + "-----END " * 100_000,
    ):  # fmt: skip
        assert len(redact(text)) == len(text)


def test_of_private_keys_each_is_hidden_to_its_own_end() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nabc/+=\n-----END RSA PRIVATE KEY-----"
    begun = "-----BEGIN PRIVATE KEY-----\nabc"
    assert redact(f"{key} between {key}") == f"{HIDDEN * len(key)} between {HIDDEN * len(key)}"
    assert redact(begun + key) == HIDDEN * len(begun + key)


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_neither_a_notice_nor_a_message_nor_a_line_holds_it(text: str) -> None:
    change = Change(
        "job", ChangeSubject("r1", agent="claude"), "waiting", False, text, "escalate", 1.0, "b", 1.0, "/p",
        cause="question", message=text,
    )  # fmt: skip
    event = journal_codec.uncounted_event("r1", 1.0, "job", "ended", {"reason": text, "moved": [{"note": text}]})
    told = messages.build_event(event._replace(seq=1), {"reason": text}, None, host="h", project="/p", dir="/d")
    said_by_it = ForeignText(text)
    verdict = Verdict(
        "job", "session", "failed", final=True, reason=text, process="unknown", progress="", message=said_by_it
    )
    said = (
        *message_text.template_fields(change).values(), event.body, messages.encode_event(told).decode(),
        verdict_json.encode_verdict(verdict, "x"), verdict_json.format_reason(verdict),
        str(verdict_json.verdict_fields(verdict, "x")),
    )  # fmt: skip
    assert not [each for each in said if PLANTED in each]


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_no_hint_is_missing(text: str) -> None:
    """A text is looked at only if it holds a hint: each shape has one of its own."""
    assert [hint for hint in HINTS if hint in text.lower()]


def test_what_we_say_ourselves_needs_no_pattern() -> None:
    said = ("exit 2 after 41s", "its turn has ended; nothing to verify against", "killed by SIGKILL",
            "no output for 10m; stuck in 30s unless it moves", "all checks passed through the night")  # fmt: skip
    assert not [hint for text in said for hint in HINTS if hint in text.lower()]
