"""[notify] in a settings file: what it may say, and the line of what it may not."""

from __future__ import annotations

import re

import pytest

from midwatch.config.codec import settings_file
from midwatch.config.model import Channel, QuietHours
from midwatch.core.errors import FormatError
from midwatch.core.notification_kinds import LEVELS, USUAL

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


def test_a_level_stands_for_what_is_sent_and_quiet_hours_and_reminders_are_the_files() -> None:
    text = """level = "needs-you"\nremind = "10m"\nquiet = "22:30-7:00"\nquiet_except = ["needs-you", "failed"]"""
    user = settings_file.parse_layer(f'[notify]\ncommand = "say"\nurls = ["ntfy://x"]\n{text}\n', "u.toml")
    project = settings_file.parse_layer('[notify]\ncommand = "theirs"\n', "p.toml")
    *mine, theirs = settings_file.merge_layers(user, project).channels
    for channel in mine:
        assert (channel.level, channel.on) == ("needs-you", LEVELS["needs-you"])
        assert (channel.remind_s, channel.quiet) == (600.0, QuietHours(22 * 60 + 30, 7 * 60))
        assert channel.quiet_except == ("needs-you", "failed")
    assert (theirs.level, theirs.remind_s, theirs.quiet, theirs.quiet_except) == ("", 1800.0, None, ())
    [channel] = channels('[notify]\ncommand = "say"\nremind = 0\n')
    assert channel.remind_s == 0.0


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
        ('[notify]\nlevel = "all"\n', 2, "level goes with urls or command of the same file"),
        ('[notify]\nremind = "1h"\n', 2, "nobody is told"),
        ('[notify]\ncommand = "say"\non = ["failed"]\nlevel = "all"\n', 4, "level and on both choose what is sent"),
        ('[notify]\ncommand = "say"\nlevel = "some"\n', 3, "'some' is none of needs-you, ended, all"),
        ('[notify]\ncommand = "say"\nquiet = "22-7"\n', 3, 'two times of the day, as in "22:00-07:00"'),
        ('[notify]\ncommand = "say"\nquiet = "24:00-07:00"\n', 3, "two times of the day"),
        ('[notify]\ncommand = "say"\nquiet = "07:00-7:00"\n', 3, "begins and ends at the same time"),
        ('[notify]\ncommand = "say"\nquiet_except = ["failed"]\n', 3, "needs quiet hours"),
        ('[notify]\ncommand = "say"\nquiet = "22:00-07:00"\nquiet_except = ["all"]\n', 4, "not 'all'"),
        ('[notify]\ncommand = "say"\nremind = -1\n', 3, "remind is no time that can be waited for"),
        ('[notify]\nurl = "ntfy://x"\n', 2, "did you mean urls?"),
        ("notify = 1\n", 1, "notify must be a table"),
        ('[[notify]]\ncommand = "say"\n', 1, "notify must be a table"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int, says: str) -> None:
    found, words = wrong(text)
    assert (found, says in words) == (line, True), words
