"""Stories of BMAD as tasks: every word of its file has one of ours, and nothing of it is written by us."""

from __future__ import annotations

from pathlib import Path

import pytest

from midwatch.trackers import select
from midwatch.trackers.model import TrackerError
from tests.conftest import Box
from tests.integration.task.conftest import told

SPRINT = """\
# generated: 2026-01-01
project: demo
development_status:
  epic-1: in-progress
  1-1-user-login: done
  1-2-sign-up-OPEN: review
  1-3-reset: in-progress
  1-4-audit: ready-for-dev
  1-5-export: backlog
  1-6-drafts: drafted
  epic-1-retrospective: optional
  epic-2: backlog
  2-1-import: "backlog"   # later
  2-2-odd: on-hold
  epic-10: done
  10-1-old: done
  epic-10-retrospective: done
"""
PLACE = "_bmad-output/implementation-artifacts/sprint-status.yaml"


def planned(project: Path, text: str = SPRINT) -> Path:
    path = project / PLACE
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_every_status_of_a_story_an_epic_and_a_retrospective_has_a_word(box: Box) -> None:
    planned(Path(box.cwd))
    assert {task["id"]: (task["status"], task["said"], task["kind"], task["parent"])
            for task in told(box, "list", "--status", "all")} == {
        "epic-1": ("in_progress", "in-progress", "epic", ""),
        "1-1-user-login": ("closed", "done", "story", "epic-1"),
        "1-2-sign-up-OPEN": ("in_progress", "review", "story", "epic-1"),
        "1-3-reset": ("in_progress", "in-progress", "story", "epic-1"),
        "1-4-audit": ("open", "ready-for-dev", "story", "epic-1"),
        "1-5-export": ("blocked", "backlog", "story", "epic-1"),
        "1-6-drafts": ("blocked", "drafted", "story", "epic-1"),
        "epic-1-retrospective": ("deferred", "optional", "retrospective", "epic-1"),
        "epic-2": ("open", "backlog", "epic", ""),
        "2-1-import": ("blocked", "backlog", "story", "epic-2"),
        "2-2-odd": ("deferred", "on-hold", "story", "epic-2"),
        "epic-10": ("closed", "done", "epic", ""),
        "10-1-old": ("closed", "done", "story", "epic-10"),
        "epic-10-retrospective": ("closed", "done", "retrospective", "epic-10"),
    }  # fmt: skip
    assert [task["id"] for task in told(box, "ready")] == ["1-4-audit"]
    assert "tasks: 10-1-old, epic-10-retrospective" in box("task", "show", "epic-10").out


def test_a_file_without_the_section_has_its_stories_and_nothing_else(box: Box) -> None:
    planned(Path(box.cwd), "project: demo\nlast_updated: 2026-01-01\n1-1-a: ready-for-dev\nepic-1: in-progress\n")
    assert [task["id"] for task in told(box)] == ["1-1-a", "epic-1"]


def test_nothing_is_written_there_by_us(box: Box) -> None:
    path = planned(Path(box.cwd))
    for words in (["add", "x"], ["close", "1-4-audit"], ["note", "1-4-audit", "x"], ["start", "1-4-audit"]):
        done = box("task", *words)
        assert done.code == 12
        assert "is written by BMAD's own workflows only" in done.err
    assert path.read_text() == SPRINT
    assert not (Path(box.cwd) / "midwatch-tasks.jsonl").exists()


def test_the_settings_name_another_place(tmp_path: Path) -> None:
    (tmp_path / "midwatch.toml").write_text('[tracker]\npath = "plan/sprint-status.yaml"\n')
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan/sprint-status.yaml").write_text(SPRINT)
    assert select.find_tracker(str(tmp_path)).kind == "sprint"
    assert "1-4-audit" in select.find_tracker(str(tmp_path)).read().tasks


@pytest.mark.parametrize("text", ["%!\n", "development_status:\n  nothing: here\n"])
def test_a_file_that_names_no_story_is_an_error(tmp_path: Path, text: str) -> None:
    planned(tmp_path, text)
    with pytest.raises(TrackerError, match="names no story"):
        select.find_tracker(str(tmp_path)).read()


def test_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "midwatch.toml").write_text('[tracker]\nkind = "sprint"\n')
    with pytest.raises(TrackerError, match="cannot read"):
        select.find_tracker(str(tmp_path)).read()
