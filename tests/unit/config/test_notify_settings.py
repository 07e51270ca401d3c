"""[notify] in a settings file: what it may say, and the line of what it may not."""

from __future__ import annotations

import re

import pytest

from midwatch.config.codec import settings_file
from midwatch.config.model import Channel
from midwatch.core.errors import FormatError
from midwatch.core.notification_kinds import USUAL

GOOD = """\
[notify]
command = "openclaw system event --text {text} --mode now"
urls = [
    "ntfy://topic",
    "json://127.0.0.1:80/x",
]
"""
WORDS = ("openclaw", "system", "event", "--text", "{text}", "--mode", "now")


def channels(text: str) -> tuple[Channel, ...]:
    return settings_file.read(text, "d.toml").channels


def wrong(text: str) -> tuple[int, str]:
    with pytest.raises(FormatError) as error:
        channels(text)
    found = re.fullmatch(r"d\.toml:(\d+): (.*)", str(error.value), re.DOTALL)
    assert found is not None, error.value
    return int(found[1]), found[2]


def test_each_channel_has_its_line_and_is_told_of_the_usual() -> None:
    assert channels(GOOD) == (
        Channel("command", WORDS, USUAL, "d.toml:2"),
        Channel("url", ("ntfy://topic",), USUAL, "d.toml:4"),
        Channel("url", ("json://127.0.0.1:80/x",), USUAL, "d.toml:5"),
    )
    assert channels("[run]\nretries = 1\n") == ()


def test_what_it_is_told_of_can_be_chosen() -> None:
    found = channels('notify = {command = ["say", "{text}"], on = ["failed", "waiting"]}')
    assert found == (Channel("command", ("say", "{text}"), ("failed", "waiting"), "d.toml:1"),)


def test_the_channels_of_both_files_count_and_none_silences_the_other() -> None:
    user = settings_file.parse_layer('[notify]\ncommand = "mine {text}"\n', "u.toml")
    project = settings_file.parse_layer('[notify]\ncommand = "theirs"\non = ["failed"]\n', "p.toml")
    assert settings_file.merge_layers(user, project).channels == (
        Channel("command", ("mine", "{text}"), USUAL, "u.toml:2"),
        Channel("command", ("theirs",), ("failed",), "p.toml:2"),
    )


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('[notify]\n\ncommand = "say {txt}"\n', 3, "no field {txt}"),
        ('[notify]\ncommand = ["say",\n"{who}"]\n', 2, "no field {who}"),
        ('[notify]\ncommand = "say \'x"\n', 2, "close the quotes"),
        ("[notify]\ncommand = 1\n", 2, "command must be a list of texts"),
        ("[notify]\ncommand = []\n", 2, "needs a program"),
        ('[notify]\nurls = ["ntfy://x",\n"nonsense"]\n', 3, "no URL"),
        ('[notify]\nurls = "ntfy://x"\n', 2, "urls must be a list of texts"),
        ('[notify]\ncommand = "say"\non = ["stalled"]\n', 3, "work that is stalled or frozen is `stuck`"),
        ('[notify]\ncommand = "say"\non = ["working"]\n', 3, "not 'working'"),
        ('[notify]\non = ["final"]\n', 2, "nobody is told"),
        ('[notify]\nurl = "ntfy://x"\n', 2, "did you mean urls?"),
        ("notify = 1\n", 1, "notify must be a table"),
        ('[[notify]]\ncommand = "say"\n', 1, "notify must be a table"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int, says: str) -> None:
    found, words = wrong(text)
    assert (found, says in words) == (line, True), words
