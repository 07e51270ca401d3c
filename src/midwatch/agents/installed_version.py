"""Which agents are installed, and in which version, without running any of them."""

from __future__ import annotations

import json
import os
import re
import shutil

from midwatch.system.atomic_files import read_plain

HEIGHT = 6
LARGEST = 4 << 20
"""Directories above a program in which its package may say its version."""


def find_version(program: str) -> tuple[str, str] | None:
    """Where a program lies and its version (empty when nothing tells); None when it is not in PATH."""
    found = shutil.which(program)
    if found is None:
        return None
    path = os.path.realpath(found)
    where = path
    for _ in range(HEIGHT):
        where = os.path.dirname(where)
        if told := _find_package(f"{where}/package.json"):
            return found, told
    named = re.search(r"/v?(\d+\.\d+\.\d+)(?:/|$)", path)  # native installers keep one file per version
    return found, named[1] if named else ""


def _find_package(path: str) -> str:
    try:
        about = json.loads(read_plain(path, LARGEST, follow=True))
    except (OSError, ValueError, RecursionError):
        return ""
    told = about.get("version") if isinstance(about, dict) else None
    return told if isinstance(told, str) else ""
