"""What the target of a check says: sizes, addresses, variables, versions. Whoever cannot be read is a FormatError."""

from __future__ import annotations

import re

from midwatch.core.errors import FormatError
from midwatch.core.numbers import parse_whole_number

UNITS = {
    "": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "K": 10**3, "M": 10**6, "G": 10**9,
    "T": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40,
}  # fmt: skip
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)$")
RELEASE = re.compile(r"(?:tmux )?(?:next-)?(\d+)\.(\d+)([a-z]?)(?:-rc\d*)?$")
LAST_PORT = 65535
LONGEST = 40
"""Characters of a number, and of a target that an error quotes."""
THOUSAND = 1000


def parse_size(text: str) -> int:
    found = SIZE.match(text.strip())
    if found is None or found[2].upper() not in UNITS or len(found[1]) > LONGEST:
        raise FormatError(f"{text[:LONGEST]!r} is not a size; say 500MB or 2GB")
    return int(float(found[1]) * UNITS[found[2].upper()])


def parse_disk(text: str) -> tuple[int, str]:
    """Bytes that must be free, and where; an empty place is the project."""
    amount, _, place = text.partition(" at ")
    return parse_size(amount), place.strip()


def format_bytes(number: int) -> str:
    """A size for people: 812 B, 3.4 MB, 120 GB."""
    shown, unit = float(number), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if shown < THOUSAND:
            break
        shown, unit = shown / THOUSAND, larger
    return f"{shown:.1f} {unit}" if shown < 10 and unit != "B" else f"{int(shown)} {unit}"  # noqa: PLR2004


def parse_address(text: str) -> tuple[str, int]:
    """Host and port of "localhost:5432" or "[::1]:5432"."""
    host, _, port = text.strip().rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    number = parse_whole_number(port) or 0
    if not bare or not 0 < number <= LAST_PORT or (":" in bare and bare == host):
        raise FormatError(f"{text[:LONGEST]!r} is not an address; say localhost:5432 or [::1]:5432")
    return bare, number


def parse_variable(text: str) -> tuple[str, str | None]:
    """A variable's name, and the value that it must have if one is given."""
    name, equals, value = text.partition("=")
    if not name.strip():
        raise FormatError("no variable is named; say NAME or NAME=value")
    return name.strip(), value if equals else None


def parse_release(text: str) -> tuple[int, int, str] | None:
    """A version as tmux words it ("3.3a", "next-3.6", "tmux 3.0"), to be compared; None when it has no number."""
    found = RELEASE.match(text.strip())
    return (int(found[1]), int(found[2]), found[3]) if found else None
