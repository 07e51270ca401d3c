"""A regular expression of an agent's file. It is compiled when it is first asked: a look asks one agent's, and few."""

from __future__ import annotations

import re


class LazyPattern:
    """Raises re.error when it is first used, if it is none; whoever reads a file of others uses it at once."""

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._compiled: re.Pattern[str] | None = None

    @property
    def pattern(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(self.text, re.MULTILINE)
        return self._compiled
