"""The words after a command, as `story-automator` takes them: flags anywhere; those that nobody knows do nothing."""

from __future__ import annotations

from midwatch.core.errors import UsageError


class Arguments:
    """``values``: flags that take a word."""

    def __init__(self, words: list[str], values: tuple[str, ...] = ()) -> None:
        self.names: list[str] = []
        self._given: dict[str, str] = {}
        left = list(words)
        while left:
            word = left.pop(0)
            flag, equals, value = word.partition("=")
            if word in values:
                if not left:
                    raise UsageError(f"{word} requires a value")
                self._given[word] = left.pop(0)
            elif equals and flag in values:
                self._given[flag] = value
            elif word.startswith("--"):
                self._given[word] = ""
            else:
                self.names.append(word)

    def text(self, flag: str) -> str | None:
        return self._given.get(flag)

    def flag(self, flag: str) -> bool:
        return flag in self._given

    def number(self, flag: str, default: float) -> float:
        """A number above 0."""
        given = self.text(flag)
        if given is None:
            return default
        try:
            found = float(given)
        except ValueError:
            found = 0.0
        if not 0 < found < float("inf"):
            raise UsageError(f"{flag} is a number above 0, not {given!r}")
        return found
