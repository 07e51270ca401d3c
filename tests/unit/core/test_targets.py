from __future__ import annotations

import pytest

from midwatch.core import check_targets
from midwatch.core.errors import FormatError


@pytest.mark.parametrize(
    ("text", "number"),
    [("2GB", 2 * 10**9), ("500 MB", 5 * 10**8), ("1.5GiB", 3 * 2**29), ("10k", 10_000), ("7", 7), ("1tb", 10**12)],
)
def test_sizes_are_read_as_people_type_them(text: str, number: int) -> None:
    assert check_targets.parse_size(text) == number


@pytest.mark.parametrize("text", ["", "GB", "2XB", "-1GB", "2GB more", "1e9"])
def test_what_is_no_size_is_said(text: str) -> None:
    with pytest.raises(FormatError, match="is not a size"):
        check_targets.parse_size(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [("2GB", (2 * 10**9, "")), ("1B at /var/log", (1, "/var/log")), ("1B at /look at me", (1, "/look at me"))],
)
def test_room_is_wanted_at_a_place(text: str, found: tuple[int, str]) -> None:
    assert check_targets.parse_disk(text) == found


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (9_990_000, "10.0 MB"),
        (123_456_789, "123 MB"),
        (10**16, "10000 TB"),
    ],
)
def test_sizes_for_people(number: int, text: str) -> None:
    assert check_targets.format_bytes(number) == text


@pytest.mark.parametrize(
    ("text", "found"),
    [("localhost:5432", ("localhost", 5432)), ("[::1]:80", ("::1", 80)), (" db.internal:1 ", ("db.internal", 1))],
)
def test_addresses(text: str, found: tuple[str, int]) -> None:
    assert check_targets.parse_address(text) == found


@pytest.mark.parametrize(
    "text", ["", "localhost", ":80", "localhost:", "localhost:0", "localhost:65536", "::1:80", "[]:80", "a:b"]
)
def test_what_is_no_address_is_said(text: str) -> None:
    with pytest.raises(FormatError, match="is not an address"):
        check_targets.parse_address(text)


def test_variables_with_and_without_a_value() -> None:
    assert check_targets.parse_variable("TOKEN") == ("TOKEN", None)
    assert check_targets.parse_variable("STAGE=") == ("STAGE", "")
    assert check_targets.parse_variable("URL=a=b") == ("URL", "a=b")
    with pytest.raises(FormatError, match="no variable"):
        check_targets.parse_variable("=x")


@pytest.mark.parametrize(
    ("text", "found"),
    [("3.3a", (3, 3, "a")), ("tmux 3.0", (3, 0, "")), ("tmux next-3.6", (3, 6, "")), ("3.5-rc", (3, 5, "")),
     ("tmux openbsd-7.4", None), ("tmux master", None), ("", None)],
)  # fmt: skip
def test_releases_of_tmux(text: str, found: tuple[int, int, str] | None) -> None:
    assert check_targets.parse_release(text) == found
