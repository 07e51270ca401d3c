"""controller-proxy-watchdog's defects with its tracker.

What its scripts made of beads' words for people, and what Midwatch makes of its data.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from midwatch.trackers import select
from midwatch.trackers.model import STATUSES, Work


def read(project: Path, *issues: dict[str, Any]) -> Work:
    path = project / ".beads" / "issues.jsonl"
    path.parent.mkdir()
    path.write_text("".join([json.dumps({"title": "x", "status": "open"} | each) + "\n" for each in issues]))
    return select.find_tracker(str(project)).read()


@pytest.mark.parametrize("status", ["blocked", "deferred", "pinned", "tombstone", "of_this_project_only"])
def test_a_managed_bead_that_is_blocked_deferred_or_missing_kills_nothing(tmp_path: Path, status: str) -> None:
    work = read(tmp_path, {"id": "bd-1", "status": status}, {"id": "bd-2"})
    assert [task.id for task in work.ready()] == ["bd-2"]
    assert "bd-3" not in work.tasks
    assert all(task.status in STATUSES for task in work.tasks.values())


def test_a_status_is_not_read_out_of_a_title(tmp_path: Path) -> None:
    work = read(
        tmp_path,
        {"id": "bd-1", "title": "Handle OPEN files", "status": "in_progress"},
        {"id": "bd-2", "title": "CLOSED sockets leak", "status": "open"},
        {"id": "bd-3", "title": "IN_PROGRESS, Quality loops for bd-1", "status": "closed"},
    )
    assert {own: task.status for own, task in work.tasks.items()} == {
        "bd-1": "in_progress", "bd-2": "open", "bd-3": "closed",
    }  # fmt: skip


def test_a_prefix_of_the_projects_own_leaks_no_line(tmp_path: Path) -> None:
    odd = ["my-app-x1", "ABC-7", "task_9", "ünï-1"]
    work = read(tmp_path, *[{"id": own, "title": "1. [P1] [task] bd-77: words"} for own in odd])
    assert sorted(task.id for task in work.ready()) == sorted(odd)


def test_a_child_keeps_the_end_of_its_id(tmp_path: Path) -> None:
    work = read(tmp_path, {"id": "bd-q2", "issue_type": "epic"}, {"id": "bd-q2.3"}, {"id": "bd-q2.3.1"})
    assert [task.id for task in work.ready()] == ["bd-q2.3", "bd-q2.3.1"]
    assert [task.id for task in work.children("bd-q2")] == ["bd-q2.3", "bd-q2.3.1"]


def test_more_beads_than_a_program_lists_by_itself_are_all_seen(tmp_path: Path) -> None:
    work = read(tmp_path, *[{"id": f"bd-{number}"} for number in range(300)])
    assert len(work.ready()) == 300
