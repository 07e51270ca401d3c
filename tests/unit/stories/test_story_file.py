"""What a story's file says of its status."""

from __future__ import annotations

import pytest

from midwatch.stories.codec import story_file


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("# Story 5.3\n\nStatus: done\n", "done"),
        ("# Story\r\n\r\nStatus: done\r\n", "done"),
        ("---\nstatus: review\n---\n# Story\n", "review"),
        ("**Status:** Ready for Review\n", "ready-for-review"),
        ("**Status**: in_progress\n", "in-progress"),
        ("Status: **Done** (2026-11-16)\n", "done"),
        ("Status: done ✅\n", "done"),
        ("Status: done - all issues fixed\n", "done"),
        ("Status: not done\n", "not-done"),
        ("Status: done <!-- set by review -->\n", "done"),
        ("## Status\n\nReview\n\n## Story\n", "review"),
        ("## Status: Done\n", "done"),
        ("Status:\n\nStatus: review\n", "review"),
        ("Status: review\n\nStatus: done\n", "review"),
        ("```\nStatus: done\n```\n", ""),
        ("~~~yaml\nStatus: done\n~~~\nStatus: review\n", "review"),
        ("The Status: done of it\n", ""),
        ("Statuses: done\n", ""),
        ("| Status: done |\n", ""),
        ("## Status\n", ""),
        ("", ""),
    ],
)
def test_the_first_status_counts(text: str, status: str) -> None:
    assert story_file.find_status(text) == status
