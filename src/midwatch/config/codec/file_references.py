"""Which words of a settings file may name a file that is run, or told to agents: in its commands, and for TLS.

Only words are found here; whether there is such a file in the project, and a script, is for others to see.
"""

from __future__ import annotations

import re
import shlex

from midwatch.config.model import Channel, Command, MqttSettings, PreflightCheck

BETWEEN = re.compile(r"[\s;|&()<>`\"'$={},]+")
"""What stands between the words of a shell command, whatever it means there."""
RUNNER = re.compile(r"(?:.*/)?(?:(?:ba|da|z|k|fi)?sh|\.|source|python[0-9.]*|perl|ruby|node|deno|bun|uv|php|lua)")
"""Programs that run the file which follows them, whatever that is called."""
SCRIPT = re.compile(r".*\.(?:sh|bash|zsh|fish|py|pl|rb|js|mjs|cjs|ts|php|lua|mk|awk|sed)")


def named_files(given: dict[str, object]) -> list[str]:
    """Words of one file (`settings_file.given`) that name what is run or told, if there is such a file."""
    found = [
        word for text in _list_commands(given) for words in _split_words(text) for word in _words_after_runners(words)
    ]
    prompt, broker = given.get("watchdog_prompt"), given.get("mqtt")
    found += [prompt.words] if isinstance(prompt, Command) else []
    found += [broker.ca] if isinstance(broker, MqttSettings) else []
    return _unique_words(found)


def possible_files(given: dict[str, object]) -> list[str]:
    """All words of its commands: one that names a script is taken for one that is run, not for one that is read."""
    return _unique_words([word for text in _list_commands(given) for words in _split_words(text) for word in words])


def _unique_words(words: list[str]) -> list[str]:
    return [word for word in dict.fromkeys(words) if word and "\0" not in word]


def _words_after_runners(words: list[str]) -> list[str]:
    """The first word behind each runner that is none of its options."""
    found: list[str] = []
    runs = False
    for word in words:
        if RUNNER.fullmatch(word):
            runs = True
        elif runs and not word.startswith("-") and word != "run":
            found.append(word)
            runs = False
    return found


def _list_commands(given: dict[str, object]) -> list[str]:
    found: list[str] = []
    for each in (*_list_values(given, "checks"), *_list_values(given, "channels")):
        if isinstance(each, PreflightCheck):
            found += [each.target] * (each.kind == "run") + [each.fix]
        elif isinstance(each, Channel) and each.kind == "command":
            found.append(shlex.join(each.target))
    for key in ("parse", "handoff"):
        command = given.get(key)
        found += [command.words] if isinstance(command, Command) else []
    broker = given.get("mqtt")
    return [*found, broker.password_command] if isinstance(broker, MqttSettings) else found


def _list_values(given: dict[str, object], key: str) -> tuple[object, ...]:
    found = given.get(key, ())
    return found if isinstance(found, tuple) else ()


def _split_words(text: str) -> list[list[str]]:
    """Its words as a shell has them, for names with blanks in them; and cut wherever words may end."""
    try:
        return [shlex.split(text), BETWEEN.split(text)]
    except ValueError:
        return [BETWEEN.split(text)]
