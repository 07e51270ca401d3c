"""What files say that hardly change: the beginning of a transcript, small files of JSON. Read once each."""

from __future__ import annotations

import json
import os
from typing import TypeVar

from midwatch.agents.transcripts.line_splitter import LONGEST, LineSplitter
from midwatch.agents.transcripts.transcript_state import TranscriptState
from midwatch.system.atomic_files import open_plain, read_plain
from midwatch.system.recent_files import FEW, RecentFiles

T = TypeVar("T")
HEAD = 1 << 20
"""Bytes at the beginning of a file in which it may say where it belongs."""
SMALL = 1 << 22
REMEMBERED = 2048


class FileHeadCache:
    """Read again only when they changed; of a transcript that has said where it belongs, never."""

    def __init__(self, few: int = FEW) -> None:
        self.recent = RecentFiles(few)
        self._stories: dict[str, tuple[int, int, TranscriptState]] = {}
        self._data: dict[str, tuple[tuple[int, int, int], object]] = {}
        self.paths: dict[str, str] = {}
        """Where the conversation of an id was found; empty when it was searched for in vain."""

    def story(self, path: str, make: type[TranscriptState]) -> TranscriptState:
        """The beginning of a transcript, up to where it says which directory it belongs to."""
        now = os.stat(path)
        inode, size, story = self._stories.get(path, (0, 0, None))
        if story is None or inode != now.st_ino or (not story.home and size != now.st_size):
            story = make()
            with open(open_plain(path), "rb") as file:
                for line in [file.read(LONGEST)] if path.endswith(".json") else LineSplitter().feed(file.read(HEAD)):
                    story.take(line)
                    if story.home:
                        break
            cache_value(self._stories, path, (now.st_ino, now.st_size, story))
        return story

    def data(self, path: str) -> object:
        """A small file of JSON, or its text where it is none; None where it cannot be read."""
        try:
            now = os.stat(path)
            state = (now.st_ino, now.st_size, now.st_mtime_ns)
            if path not in self._data or self._data[path][0] != state:
                content = read_plain(path, SMALL).decode("utf-8", "replace")
                cache_value(self._data, path, (state, _loads(content)))
        except OSError:
            return None
        return self._data[path][1]


def cache_value(kept: dict[str, T], name: str, value: T) -> None:
    if len(kept) >= REMEMBERED:
        kept.clear()
    kept[name] = value


def _loads(content: str) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content
