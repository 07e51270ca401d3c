"""What stands in the box where an agent's prompt is typed."""

from __future__ import annotations

from midwatch.agents.definition import Detector, split_regions
from midwatch.sessions.prompting.model import DRAFT, EMPTY, UNSEEN, InputBox
from midwatch.tmux.codec import sgr


def read_input_box(detector: Detector, rows: tuple[str, ...]) -> InputBox:
    """From a screen with its colours."""
    typing = detector.typing
    if typing is None:
        return InputBox(UNSEEN)
    texts, spans = split_regions(detector, sgr.split_styles(rows)[0])
    if typing.box not in texts or any(name in texts and odd.pattern.search(texts[name]) for name, odd in typing.unless):
        return InputBox(UNSEEN)
    first, past = spans[typing.box]
    inside = "\n".join([row.rstrip() for row in sgr.blank_dim_text(rows)[first:past]]).replace("\xa0", " ")
    if typing.empty.search(inside):
        return InputBox(EMPTY)
    return InputBox(DRAFT, typing.frame.sub("", inside).strip())
