"""What a project says that it needs: pyproject.toml with its extras and groups, and files of requirements."""

from __future__ import annotations

import re
import tomllib

from dogwatch.model.value import Value

NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?")
DEFAULT_GROUPS = ("dev",)
"""Groups that uv installs unasked."""
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Declared(Value):
    """Names of packages, as `normal` spells them."""

    base: frozenset[str]
    extras: dict[str, frozenset[str]]
    groups: dict[str, frozenset[str]]
    unasked: tuple[str, ...]
    """Groups that are installed though nobody names them."""


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(pyproject: str) -> Declared:
    """What a pyproject.toml declares; nothing where it cannot be read."""
    try:
        found = tomllib.loads(pyproject)
    except (tomllib.TOMLDecodeError, RecursionError):
        return Declared(frozenset(), {}, {}, ())
    about, tool = _table(found, "project"), _table(_table(found, "tool"), "uv")
    own, extras = normal(str(about.get("name", ""))), _table(about, "optional-dependencies")
    groups = _table(found, "dependency-groups")
    if tool.get("dev-dependencies"):
        groups = {**groups, "dev": [*_list(groups.get("dev")), *_list(tool["dev-dependencies"])]}
    unasked = tool.get("default-groups", list(DEFAULT_GROUPS))
    return Declared(
        _names(_list(about.get("dependencies"))),
        {key: _extra(key, extras, own, ()) for key in extras},
        {key: _group(key, groups, ()) for key in groups},
        tuple(groups) if unasked == "all" else tuple(map(str, _list(unasked))),
    )


def required(requirements: str) -> frozenset[str]:
    """The packages that a file of requirements names itself."""
    lines = [line.strip() for line in requirements.splitlines()]
    return _names([line for line in lines if line and not line.startswith(("#", "-"))])


def _extra(key: str, extras: dict[str, Any], own: str, above: tuple[str, ...]) -> frozenset[str]:
    """The packages of an extra; one that names the project itself takes in other extras."""
    found: frozenset[str] = frozenset()
    for line in map(str, _list(extras.get(key))):
        match = NAME.match(line)
        if match and own and normal(match[1]) == own:
            inner = [each.strip() for each in (match[2] or "").split(",")]
            found = found.union(*(_extra(each, extras, own, (*above, key)) for each in inner if each not in above))
        else:
            found |= _names([line])
    return found


def _group(key: str, groups: dict[str, Any], above: tuple[str, ...]) -> frozenset[str]:
    found = _names([each for each in _list(groups.get(key)) if isinstance(each, str)])
    inner = [str(each.get("include-group", "")) for each in _list(groups.get(key)) if isinstance(each, dict)]
    return found.union(*(_group(each, groups, (*above, key)) for each in inner if each not in (*above, key)))


def _names(lines: list[Any]) -> frozenset[str]:
    """Names of those that are needed everywhere: what is under a condition (`; python_version < '3.11'`) may lack."""
    always = [str(line) for line in lines if ";" not in str(line)]
    return frozenset(normal(match[1]) for line in always if (match := NAME.match(line)))


def _table(found: dict[str, Any], key: str) -> dict[str, Any]:
    value = found.get(key, {})
    return value if isinstance(value, dict) else {}


def _list(found: object) -> list[Any]:
    return found if isinstance(found, list) else []
