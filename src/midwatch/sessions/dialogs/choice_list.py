"""Reads the choices of an open dialog from a screen, by the rules of the agent's file."""

from __future__ import annotations

import re

from midwatch.agents.definition import Detector, normalize_rows, split_regions
from midwatch.agents.dialog_lists import BACKGROUND, DialogRules
from midwatch.core.foreign_text import ForeignText
from midwatch.core.value import Value
from midwatch.sessions.dialogs.model import Choice, ChoiceList, UnreadableDialog
from midwatch.tmux.codec import sgr

FRAME = " │┃║█"
"""What agents draw beside the text of a dialog."""
ASIDE = re.compile(r" {20,}\S.*| +[│┃].*")
"""What stands so far to the right, or behind a frame, is no part of a choice."""
INDENT = 8
"""Columns by which the next row of a choice may begin further right than its first one."""
DIALOG = "dialog"
"""Region that an agent's file names so: what to show where no list can be read."""


class _ChoiceLine(Value):
    """One choice as it is found in a row."""

    row: int
    column: int
    number: int | None
    label: str
    marked: bool


def read_choices(detector: Detector, rows: tuple[str, ...]) -> ChoiceList | UnreadableDialog:
    """From a screen with its colours."""
    plain = sgr.split_styles(rows)[0]
    _, spans = split_regions(detector, plain)
    texts = normalize_rows(plain)
    backgrounds = sgr.read_backgrounds(rows)
    reason = ""
    for rules in detector.dialogs:
        if rules.region not in spans:
            continue
        first, past = spans[rules.region]
        found = _last_list(_find_lines(rules, texts, backgrounds, first, past))
        if not found:
            continue
        if (wrong := _find_problem(rules, found)) is not None:
            reason = reason or wrong
            continue
        choices = tuple(_choice(rules, found, nth, texts, past) for nth in range(len(found)))
        shown = (min(first, spans.get(DIALOG, (first, past))[0]), past)
        return ChoiceList(choices, tuple(line.row for line in found), shown, rules.move, rules.take)
    known = f"nothing tells how {detector.title} lists the choices of this dialog"
    return UnreadableDialog(reason or known, spans.get(DIALOG, (0, len(texts))))


def _find_lines(
    rules: DialogRules, texts: list[str], backgrounds: tuple[tuple[str, ...], ...], first: int, past: int
) -> list[_ChoiceLine]:
    found = []
    for row in range(first, min(past, len(texts))):
        for each in rules.choice.pattern.finditer(texts[row]):
            groups = each.groupdict()
            column = each.start("label")
            if rules.marked_by == BACKGROUND:
                marked = _stands_out(backgrounds[row] if row < len(backgrounds) else (), texts[row], column)
            else:
                marked = bool(groups.get("mark"))
            number = groups.get("number")
            found.append(_ChoiceLine(row, column, int(number) if number else None, groups["label"], marked))
    return found


def _stands_out(cells: tuple[str, ...], text: str, column: int) -> bool:
    """Whether a label has another background than its row, beside the frame."""
    edge = max(text.rfind(sign, 0, column) for sign in FRAME.strip()) + 1
    return column < len(cells) and cells[column] != cells[edge]


def _last_list(found: list[_ChoiceLine]) -> list[_ChoiceLine]:
    """The last list that is numbered from 1 on without a gap; or all, where nothing is numbered."""
    if not any(line.number is not None for line in found):
        return found
    current: list[_ChoiceLine] = []
    for line in found:
        if line.number == 1:
            current = [line]
        elif current and line.number == len(current) + 1:
            current.append(line)
        else:
            current = []
    return current


def _find_problem(rules: DialogRules, found: list[_ChoiceLine]) -> str | None:
    marked = sum(line.marked for line in found)
    if rules.several is not None and any(rules.several.pattern.search(line.label) for line in found):
        return "it takes several choices at once, which `answer` does not tick"
    return None if marked == 1 else "which of its choices is marked cannot be seen"


def _choice(rules: DialogRules, found: list[_ChoiceLine], nth: int, texts: list[str], past: int) -> Choice:
    line = found[nth]
    end = next((each.row for each in found[nth + 1 :] if each.row != line.row), past)
    parts = [ASIDE.sub("", line.label)]
    for row in texts[line.row + 1 : min(end, past)]:
        inside = row.lstrip(FRAME)
        if not inside or not 0 <= len(row) - len(inside) - line.column <= INDENT:
            break
        parts.append(ASIDE.sub("", inside))
    text = " ".join(" ".join(part.rstrip(FRAME) for part in parts).split())
    words = rules.words is not None and bool(rules.words.pattern.search(line.label))
    return Choice(
        nth + 1 if line.number is None else line.number, ForeignText(text), line.marked, takes_words=words,
        typed=words and rules.typed,
    )  # fmt: skip
