"""An open dialog with its choices, and what became of an answer."""

from __future__ import annotations

from midwatch.core.foreign_text import ForeignText
from midwatch.core.value import Value


class Choice(Value):
    number: int
    """As the dialog numbers it; where it does not, its place in the list."""
    text: ForeignText
    marked: bool
    takes_words: bool
    """It asks for a text of the person's own."""
    typed: bool = False
    """It is known how to give it that text: typed while the choice is marked."""


class ChoiceList(Value):
    """The choices of a dialog as one screen shows them."""

    choices: tuple[Choice, ...]
    rows: tuple[int, ...]
    """Row of the screen at which each choice begins."""
    shown: tuple[int, int]
    """Rows of the screen (first, one past the last) that the dialog takes."""
    move: tuple[str, str]
    take: str

    @property
    def marked(self) -> Choice:
        return next(each for each in self.choices if each.marked)

    def find(self, number: int) -> Choice | None:
        return next((each for each in self.choices if each.number == number), None)


class UnreadableDialog(Value):
    """A dialog whose choices cannot be read."""

    reason: str
    shown: tuple[int, int]


class OpenDialog(Value):
    """The dialog that is open in an agent's pane at one moment."""

    id: str
    """The same as long as it is the same dialog, whichever choice is marked."""
    agent: str
    kind: str
    """What the verdict says it is: permission, question, trust, login, menu …; a limit's name for its menu."""
    rows: tuple[ForeignText, ...]
    """What it shows."""
    list: ChoiceList | None
    """None where its choices cannot be read; `reason` says why."""
    reason: str = ""


class AnswerOutcome:
    """What became of an answer, in a word."""

    OPEN = "open"
    """It was asked for, and is open."""
    ANSWERED = "answered"
    """The dialog is gone."""
    STILL_OPEN = "still-open"
    """The key was pressed, and the dialog is still there."""
    UNPROVEN = "unproven"
    """It is gone from the screen, and other sources still tell of it."""
    NO_DIALOG = "no-dialog"
    OTHER_DIALOG = "other-dialog"
    """Another one is open than the one that was meant."""
    UNREADABLE = "unreadable"
    """Its choices cannot be read, or it cannot be answered in this way."""
    PERSON = "person"
    """Somebody types there, or keys would go elsewhere."""
    INTERRUPTED = "interrupted"
    REFUSED = "refused"
    EXITED = "exited"
    """The agent or its pane is gone."""


class AnswerResult(Value):
    outcome: str
    reason: str
    dialog: OpenDialog | None = None
    """The one that was answered, or that is open in place of it."""
    choice: Choice | None = None
    pressed: bool = False
    """The key that takes the choice was pressed."""
    state: str = ""
    """What the agent does now, as its verdict says."""
