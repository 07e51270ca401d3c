"""Errors say who should act: nobody yet (try again), a person, or us."""

from midwatch.core.foreign_text import escape_text


class MidwatchError(Exception):
    """Something a caller can be told. The message says what to do next.

    It may hold words of others (names, paths, what a program said), and is one line all the same.
    """

    def __str__(self) -> str:
        return escape_text(super().__str__())


class UsageError(MidwatchError):
    """The command line is wrong; nothing was done."""


class RefusedError(MidwatchError):
    """Midwatch will not do this as things stand; a person must change them first."""


class FormatError(MidwatchError):
    """A file does not hold what its name promises."""
