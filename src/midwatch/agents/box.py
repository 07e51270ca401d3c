"""What stands in the box where an agent's prompt is typed."""

from __future__ import annotations

from midwatch.agents.detector import Detector, regions
from midwatch.formats import colours
from midwatch.model.sending import DRAFT, EMPTY, UNSEEN, Box


def read(detector: Detector, rows: tuple[str, ...]) -> Box:
    """From a screen with its colours."""
    typing = detector.typing
    if typing is None:
        return Box(UNSEEN)
    texts, spans = regions(detector, colours.split(rows)[0])
    if typing.box not in texts or any(name in texts and odd.pattern.search(texts[name]) for name, odd in typing.unless):
        return Box(UNSEEN)
    first, past = spans[typing.box]
    inside = "\n".join([row.rstrip() for row in colours.undimmed(rows)[first:past]]).replace("\xa0", " ")
    if typing.empty.search(inside):
        return Box(EMPTY)
    return Box(DRAFT, typing.frame.sub("", inside).strip())
