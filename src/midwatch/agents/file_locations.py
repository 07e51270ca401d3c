"""Where agents put their files: what several of them have in common. Paths are POSIX text; nothing is looked at here.

Where one agent's files are stands in its folder.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256

ID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z|ses_[0-9A-Za-z]{10,40}\Z")

Environment = dict[str, str]


def path_below(environment: Environment, variable: str, name: str) -> str:
    """A place below the directory that a variable names; empty where it is not set, for there is nothing to guess."""
    top = environment.get(variable, "")
    return f"{top.rstrip('/')}/{name}" if top else ""


@lru_cache(256)
def directory_digest(directory: str) -> str:
    return sha256(directory.encode("utf-8", "surrogateescape")).hexdigest()


def requested_conversation(args: tuple[str, ...]) -> str:
    """The conversation that a command line names: one to resume, or the id for a new one; empty for none.

    A fork gets an id of its own; a number, a title or "latest" names none.
    """
    if "--fork-session" in args or "fork" in args:
        return ""
    for at, word in enumerate(args):
        option, _, value = word.partition("=")
        if option in ("--session-id", "--resume", "-r", "--session", "-s", "--conversation", "resume"):
            value = value or (args[at + 1] if at + 1 < len(args) else "")
            if ID.match(value):
                return value
    return ""


def utf16_units(path: str) -> list[int]:
    """UTF-16 units, as JavaScript counts characters. A byte that is no UTF-8 is one unit."""
    data = path.encode("utf-16-le", "surrogatepass")
    return [data[at] | data[at + 1] << 8 for at in range(0, len(data), 2)]


@lru_cache(256)
def dashed_path(path: str) -> str:
    """A path with a dash for whatever is no ASCII letter or digit."""
    return "".join([chr(unit) if chr(unit).isascii() and chr(unit).isalnum() else "-" for unit in utf16_units(path)])
