"""The command that carries a notice: a template whose words are split before anything is filled in.

What is filled in goes into single arguments, once, and no shell sees it: `$(…)`, `;` and quotes in a reason are only
letters.
"""

from __future__ import annotations

import re
import shlex

from midwatch.core.errors import FormatError

FIELDS = ("text", "name", "state", "cause", "reason", "agent", "pane", "attach", "next", "since", "kind")
"""What a template may use."""
FIELD = re.compile(r"\{\{(\w+)\}\}|\{(\w+)\}")
CODE = re.compile(r"(?:ba|da|z|k|c|tc|fi)?sh|su|python[0-9.]*|perl|ruby|node|osascript")
"""Programs that run what follows one of these flags; ssh gives all its words to a shell at the other end."""
CODE_FLAG = re.compile(r"-\w*[ce]|--eval|--command")
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[!-~]+")


def parse_template(given: str | tuple[str, ...]) -> tuple[str, ...]:
    """The words of a command. FormatError, without a line, where they cannot be filled in."""
    try:
        words = tuple(shlex.split(given)) if isinstance(given, str) else given
    except ValueError as error:
        raise FormatError(f"command cannot be split into words ({error}); close the quotes, or write a list") from None
    if not words or not words[0].strip():
        raise FormatError("command needs a program")
    if FIELD.search(words[0]):
        raise FormatError(f"the program of a command is not filled in; write its name in place of {words[0]}")
    if "\0" in "".join(words):
        raise FormatError("command must hold no NUL")
    for name in [name for word in words for name in _fields(word) if name not in FIELDS]:
        known = ", ".join(f"{{{field}}}" for field in FIELDS)
        raise FormatError(f"command has no field {{{name}}}; known are {known}; for these letters write {{{{{name}}}}}")
    _refuse_code(words)
    return words


def _fields(word: str) -> list[str]:
    return [name for _, name in FIELD.findall(word) if name]


def _refuse_code(words: tuple[str, ...]) -> None:
    """What is told may hold anything, so it must not become part of a program's text."""
    runs = ""
    for before, word in zip(("", *words), words, strict=False):
        joined = bool(CODE.fullmatch(before.rpartition("/")[2]) and CODE_FLAG.match(word))  # -c'…', --eval=…
        if _fields(word) and (runs == "ssh" or joined or (runs and CODE_FLAG.fullmatch(before))):
            instead = (
                "sh -c 'notify \"$1\"' sh {text}" if runs != "ssh" else "a script of yours that passes it on as input"
            )
            raise FormatError(f"{runs} would run {word!r} as code, whatever a notice holds; write {instead}")
        name = word.rpartition("/")[2]
        runs = name if name == "ssh" or CODE.fullmatch(name) else runs


def fill_template(words: tuple[str, ...], values: dict[str, str]) -> list[str]:
    """The command for one notice. What is filled in is not looked at again; ``{{x}}`` becomes ``{x}``.

    Not every notice has all fields: a drift has nothing to attach to, and an earlier release wrote fewer.
    """

    def fill(found: re.Match[str]) -> str:
        return f"{{{found[1]}}}" if found[1] else values.get(found[2], "")

    return [FIELD.sub(fill, word) for word in words]


def check_url(given: str) -> str:
    """An Apprise URL, or FormatError, which does not repeat what may be secret."""
    if not URL.fullmatch(given):
        raise FormatError("this is no URL; write one as Apprise knows it: ntfy://topic, mailto://user:password@host")
    return given
