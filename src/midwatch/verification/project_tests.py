"""Which command runs a project's tests, by the files that its tools leave. Nothing is run."""

from __future__ import annotations

import json
import os
import re

from midwatch.system.atomic_files import read_plain

LARGEST = 1 << 20
TARGET = re.compile(r"^test\s*:(?!=)", re.MULTILINE)
RECIPE = re.compile(r"^test(?:\s[^:=\n]*)?:(?!=)", re.MULTILINE)
UNSET = "no test specified"
"""In what npm writes where a package has no tests."""
RUNNERS = (
    ("pnpm-lock.yaml", "pnpm test"), ("yarn.lock", "yarn test"), ("bun.lock", "bun run test"), ("", "npm test"),
)  # fmt: skip


def find_test_command(project: str) -> str:
    """The command; empty where nothing tells."""
    for name in ("Makefile", "makefile", "GNUmakefile"):
        if TARGET.search(_read(f"{project}/{name}")):
            return "make test"
    for name in ("justfile", "Justfile"):
        if RECIPE.search(_read(f"{project}/{name}")):
            return "just test"
    if _has_script(_read(f"{project}/package.json")):
        return next(command for lock, command in RUNNERS if os.path.exists(f"{project}/{lock}"))
    for name, command in (("Cargo.toml", "cargo test"), ("go.mod", "go test ./...")):
        if os.path.isfile(f"{project}/{name}"):
            return command
    if "[tool.pytest" in _read(f"{project}/pyproject.toml") or os.path.isfile(f"{project}/pytest.ini"):
        return "uv run pytest" if os.path.isfile(f"{project}/uv.lock") else "pytest"
    return ""


def _has_script(text: str) -> bool:
    try:
        script = json.loads(text)["scripts"]["test"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    return isinstance(script, str) and bool(script.strip()) and UNSET not in script


def _read(path: str) -> str:
    try:
        return read_plain(path, LARGEST, follow=True).decode("utf-8", "replace")
    except OSError:
        return ""
