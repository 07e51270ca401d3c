"""Where agents put their files, and under which names. Paths are POSIX text; nothing is looked at here.

Variables that these places depend on, besides HOME: CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME, QWEN_HOME,
QWEN_RUNTIME_DIR, XDG_DATA_HOME, OPENCODE_DB, ANTIGRAVITY_CLI_HOME.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from hashlib import sha256

LONGEST_KEY = 200
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
ROLLOUT = re.compile(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(?P<id>[0-9A-Za-z-]+)(?:_[0-9A-Za-z-]+)?\.jsonl\Z")
ID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z|ses_[0-9A-Za-z]{10,40}\Z")

Environment = dict[str, str]


def claude_home(environment: Environment) -> str:
    return environment.get("CLAUDE_CONFIG_DIR") or _below(environment, "HOME", ".claude")


def codex_home(environment: Environment) -> str:
    return environment.get("CODEX_HOME") or _below(environment, "HOME", ".codex")


def gemini_home(environment: Environment) -> str:
    return _below(environment, "GEMINI_CLI_HOME", ".gemini") or _below(environment, "HOME", ".gemini")


def qwen_home(environment: Environment) -> str:
    return environment.get("QWEN_RUNTIME_DIR") or environment.get("QWEN_HOME") or _below(environment, "HOME", ".qwen")


def agy_home(environment: Environment) -> str:
    return environment.get("ANTIGRAVITY_CLI_HOME") or _below(environment, "HOME", ".gemini/antigravity-cli")


def opencode_database(environment: Environment) -> str:
    data = _below(environment, "XDG_DATA_HOME", "opencode") or _below(environment, "HOME", ".local/share/opencode")
    named = environment.get("OPENCODE_DB") or "opencode.db"
    return named if named.startswith("/") else f"{data}/{named}" if data else ""


def arrivals(agent: str, environment: Environment, day: str) -> list[str]:
    """Directories in which the first conversation of an agent shows, wherever it works.

    Those that hold conversations already are found by looking (`senses.conversations.shelves`). ``day``: the local one,
    as 2026/01/31.
    """
    homes = {
        "claude": claude_home, "codex": codex_home, "gemini": gemini_home, "qwen": qwen_home, "agy": agy_home,
        "opencode": opencode_database,
    }  # fmt: skip
    home = homes[agent](environment) if agent in homes else ""
    if not home:
        return []
    match agent:
        case "claude":
            return [f"{home}/projects"]
        case "codex":  # by the local day; the directories above it get the next one
            return [f"{home}/sessions", *(f"{home}/sessions/{day[:length]}" for length in (4, 7, 10))]
        case "gemini":
            return [home, f"{home}/tmp"]  # noqa: S108  # the first names the directories in the second
        case "qwen":
            return [f"{home}/projects"]
        case "agy":
            return [f"{home}/cache"]
        case _:
            return [home.rpartition("/")[0]]


def _below(environment: Environment, variable: str, name: str) -> str:
    """A place below the directory that a variable names; empty where it is not set, for there is nothing to guess."""
    top = environment.get(variable, "")
    return f"{top.rstrip('/')}/{name}" if top else ""


@lru_cache(256)
def claude_keys(directory: str) -> tuple[str, ...]:
    """Names that Claude Code may give to a directory's conversations: of the path as it is, and composed (NFC)."""
    spellings = dict.fromkeys((directory, unicodedata.normalize("NFC", directory)))
    return tuple([_dashed(each)[:LONGEST_KEY] + _tail(each) for each in spellings])


@lru_cache(256)
def qwen_key(directory: str) -> str:
    return _dashed(directory)


def gemini_names(directory: str, registry: object) -> list[str]:
    """Names of a project's directory: as ``projects.json`` has it, and the digest that was used before that."""
    projects = registry.get("projects") if isinstance(registry, dict) else None
    named = projects.get(directory) if isinstance(projects, dict) else None
    return [*([named] if isinstance(named, str) and named and "/" not in named else []), digest(directory)]


@lru_cache(256)
def digest(directory: str) -> str:
    return sha256(directory.encode("utf-8", "surrogateescape")).hexdigest()


def rollout_id(name: str) -> str:
    """The conversation that a rollout's name belongs to; empty for other files."""
    found = ROLLOUT.match(name)
    return found["id"] if found else ""


def asked_for(args: tuple[str, ...]) -> str:
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


def _units(path: str) -> list[int]:
    """UTF-16 units, as JavaScript counts characters. A byte that is no UTF-8 is one unit."""
    data = path.encode("utf-16-le", "surrogatepass")
    return [data[at] | data[at + 1] << 8 for at in range(0, len(data), 2)]


def _dashed(path: str) -> str:
    return "".join([chr(unit) if chr(unit).isascii() and chr(unit).isalnum() else "-" for unit in _units(path)])


def _tail(path: str) -> str:
    """What a long name ends with instead of its rest: the 32-bit string hash of the path, without sign, in base 36."""
    units = _units(path)
    if len(units) <= LONGEST_KEY:
        return ""
    value = 0
    for unit in units:
        value = (value * 31 + unit) & 0xFFFFFFFF
    value = abs(value - (1 << 32) if value >> 31 else value)
    word = ""
    while value:
        value, digit = divmod(value, 36)
        word = DIGITS[digit] + word
    return f"-{word or '0'}"
