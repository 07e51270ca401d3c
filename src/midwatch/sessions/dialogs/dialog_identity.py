"""What makes an open dialog this one and no other: whose it is, what it shows, how far the conversation had come."""

from __future__ import annotations

import hashlib

from midwatch.agents.definition import Detector, normalize_rows
from midwatch.core.foreign_text import ForeignText
from midwatch.core.pane_model import SourceReport
from midwatch.sessions.dialogs.model import ChoiceList, UnreadableDialog
from midwatch.tmux.codec import sgr

LENGTH = 12
SOURCE = "transcript"
"""It stands still while a dialog is open, and has gone on when the same question is asked again."""

Signature = tuple[str, ...]
"""What a dialog shows, whichever choice is marked."""


def shown_rows(rows: tuple[str, ...], found: ChoiceList | UnreadableDialog) -> tuple[ForeignText, ...]:
    """What a person sees of a dialog, without the blank rows around it."""
    texts = normalize_rows(sgr.split_styles(rows)[0])[slice(*found.shown)]
    return tuple(ForeignText(text) for text in "\n".join(texts).strip("\n").split("\n"))


def sign_dialog(
    detector: Detector, rows: tuple[str, ...], found: ChoiceList | UnreadableDialog, *, without: int = 0
) -> Signature:
    """What a dialog shows down to its last choice, without what moves by itself and without the mark.

    Below the choices stand hints, which depend on the marked one. ``without``: leave the text of that choice out.
    """
    texts = normalize_rows(sgr.split_styles(rows)[0])
    last = found.rows[0] if isinstance(found, ChoiceList) else found.shown[1]
    above = [" ".join(text.split()) for text in texts[found.shown[0] : last] if not detector.noise.search(text)]
    choices = found.choices if isinstance(found, ChoiceList) else ()
    return (*above, *(f"{each.number} {'' if each.number == without else each.text.raw}" for each in choices))


def identify_dialog(
    socket: str, pane: str, process: tuple[int, int], signature: Signature, reports: tuple[SourceReport, ...]
) -> str:
    asked = next((str(report.at) for report in reports if report.source == SOURCE and report.at is not None), "")
    parts = (socket, pane, *map(str, process), asked, *signature)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH]
