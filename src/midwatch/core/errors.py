"""Errors say who should act: nobody yet (try again), a person, or us."""

from midwatch.core.foreign_text import escape_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.core.verdict import Verdict


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


class StateError(MidwatchError):
    """Work did not come to the state that its caller wanted (`Verdict.raise_for_state`)."""

    def __init__(self, verdict: "Verdict") -> None:
        super().__init__(f"{verdict.name}: {verdict.state}: {verdict.reason}")
        self.verdict = verdict

    def __reduce__(self) -> tuple[type, tuple["Verdict"]]:
        return type(self), (self.verdict,)
