"""How an agent's open dialog lists its choices, and which keys take one: one table of the agent's file as a value."""

from __future__ import annotations

from midwatch.agents.lazy_pattern import LazyPattern
from midwatch.core.value import Value

SIGN, BACKGROUND = "sign", "background"
MARKS = (SIGN, BACKGROUND)
"""How the marked choice differs from the others: by the group `mark` of the pattern, or by its background colour."""


class DialogRules(Value):
    """One way in which a dialog lists its choices."""

    region: str
    choice: LazyPattern
    """Finds the choices within a row of that region; group `label` is its text, `number` its number if it has one."""
    marked_by: str
    """Of MARKS."""
    move: tuple[str, str]
    """Keys that mark the choice before the marked one, and the one after it."""
    take: str
    """Key that takes the marked choice."""
    words: LazyPattern | None
    """Label of a choice that takes a text of the person's own; None: no choice does."""
    typed: bool
    """Such a text is typed while the choice is marked, and stands there in place of its label."""
    several: LazyPattern | None
    """Label of a choice that is one of several to tick; such a dialog is not answered. None: no label looks so."""
