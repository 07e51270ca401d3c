"""What an agent's transcript has got since we began to look: whether it has a prompt of ours."""

from __future__ import annotations

import os

from midwatch.agents import parts
from midwatch.core.pane_model import SourceReport
from midwatch.sessions.prompting.codec import transcript_search
from midwatch.system.atomic_files import open_plain

LARGEST = 1 << 26
"""Bytes that are read of what has been added."""


class TranscriptPrompts:
    def __init__(self, agent: str, reports: tuple[SourceReport, ...]) -> None:
        """Made before a prompt is sent, of what the look before it found."""
        self._story = parts.files(agent).story
        self._path = _transcript_path(reports)
        self._size = _file_size(self._path)

    def hold(self, reports: tuple[SourceReport, ...], text: str, since: float) -> bool | None:
        """Whether a text has been written down as a prompt; None for a transcript that is not one of lines."""
        path = _transcript_path(reports)
        if self._story is None or path.endswith(".json"):
            return None
        if not path:
            return False
        try:
            with open(open_plain(path), "rb") as file:
                file.seek(self._size if path == self._path else 0)
                lines = file.read(LARGEST).split(b"\n")[:-1]
        except OSError:
            return False
        return transcript_search.has_prompt(lines, self._story, text, since)


def _transcript_path(reports: tuple[SourceReport, ...]) -> str:
    return next((each.words.get("path", "") for each in reports if each.source == "transcript"), "")


def _file_size(path: str) -> int:
    try:
        return os.path.getsize(path) if path else 0
    except OSError:
        return 0
