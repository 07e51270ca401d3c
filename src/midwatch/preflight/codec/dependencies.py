"""What a project says that it needs: pyproject.toml with its extras and groups, and files of requirements."""

from __future__ import annotations

import re

from midwatch.config.codec.toml_reader import TomlFile
from midwatch.core.errors import FormatError
from midwatch.core.value import Value

NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?")
MOST = 500
"""Extras, and groups: each may take in all others."""
DEFAULT_GROUPS = ("dev",)
"""Groups that uv installs unasked."""
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class DeclaredPackages(Value):
    """Names of packages, as `normalize_name` spells them."""

    base: frozenset[str]
    extras: dict[str, frozenset[str]]
    groups: dict[str, frozenset[str]]
    unasked: tuple[str, ...]
    """Groups that are installed though nobody names them."""


def normalize_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def parse_pyproject(pyproject: str) -> DeclaredPackages:
    """What a pyproject.toml declares; nothing where it cannot be read."""
    try:
        found = TomlFile(pyproject, "pyproject.toml").parsed()
    except FormatError:
        return DeclaredPackages(frozenset(), {}, {}, ())
    about, tool = _to_table(found, "project"), _to_table(_to_table(found, "tool"), "uv")
    own, extras = normalize_name(str(about.get("name", ""))), _to_table(about, "optional-dependencies")
    groups = _to_table(found, "dependency-groups")
    if tool.get("dev-dependencies"):
        groups = {**groups, "dev": [*_to_list(groups.get("dev")), *_to_list(tool["dev-dependencies"])]}
    if len(extras) > MOST or len(groups) > MOST:
        return DeclaredPackages(frozenset(), {}, {}, ())
    unasked = tool.get("default-groups", list(DEFAULT_GROUPS))
    return DeclaredPackages(
        _package_names(_to_list(about.get("dependencies"))),
        {key: _packages_of_extra(key, extras, own) for key in extras},
        {key: _packages_of_group(key, groups) for key in groups},
        tuple(groups) if unasked == "all" else tuple(map(str, _to_list(unasked))),
    )


def parse_requirements(requirements: str) -> frozenset[str]:
    """The packages that a file of requirements names itself."""
    lines = [line.strip() for line in requirements.splitlines()]
    return _package_names([line for line in lines if line and not line.startswith(("#", "-"))])


def _packages_of_extra(key: str, extras: dict[str, Any], own: str) -> frozenset[str]:
    """The packages of an extra; one that names the project itself takes in other extras."""
    found: set[str] = set()
    keys, known = [key], {key}
    for each in keys:  # which grows
        for line in map(str, _to_list(extras.get(each))):
            match = NAME.match(line)
            if match and own and normalize_name(match[1]) == own:
                inner = [name.strip() for name in (match[2] or "").split(",")]
                keys += [name for name in dict.fromkeys(inner) if name not in known]
                known.update(inner)
            else:
                found |= _package_names([line])
    return frozenset(found)


def _packages_of_group(key: str, groups: dict[str, Any]) -> frozenset[str]:
    """The packages of a group, with those of the groups that it includes."""
    found: set[str] = set()
    keys, known = [key], {key}
    for each in keys:  # which grows
        lines = _to_list(groups.get(each))
        found |= _package_names([line for line in lines if isinstance(line, str)])
        inner = [str(line.get("include-group", "")) for line in lines if isinstance(line, dict)]
        keys += [name for name in dict.fromkeys(inner) if name not in known]
        known.update(inner)
    return frozenset(found)


def _package_names(lines: list[Any]) -> frozenset[str]:
    """Names of those that are needed everywhere: what is under a condition (`; python_version < '3.11'`) may lack."""
    always = [str(line) for line in lines if ";" not in str(line)]
    return frozenset(normalize_name(match[1]) for line in always if (match := NAME.match(line)))


def _to_table(found: dict[str, Any], key: str) -> dict[str, Any]:
    value = found.get(key, {})
    return value if isinstance(value, dict) else {}


def _to_list(found: object) -> list[Any]:
    return found if isinstance(found, list) else []
