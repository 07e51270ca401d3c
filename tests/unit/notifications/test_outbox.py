"""What is to be delivered is held by one at a time, and what was told is known as long as somebody may ask."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from midwatch.core.errors import RefusedError
from midwatch.notifications import outbox
from midwatch.notifications.model import Change, ChangeSubject, Notification, NotificationState

NOTICE = Notification("a1", "x", "r1", {"text": "it is so", "state": "failed"}, "command-1", "/p", 1.5)
CHANGE = Change(
    "x", ChangeSubject("r1"), "failed", final=True, reason="", following="", at=1.0, boot="b", wall=2.0, project=""
)
GOLDEN = Path(__file__).parents[2] / "goldens" / "formats" / "v1" / "completed.json"


@pytest.fixture
def directory(tmp_path: Path) -> str:
    found = tmp_path / "jobs"
    outbox.prepare_outbox(str(found))
    return str(found)


def test_one_holds_a_notice_until_he_lets_it_go(directory: str) -> None:
    outbox.add_notification(directory, NOTICE)
    held = outbox.hold_notification(directory, NOTICE)
    assert held is not None
    assert outbox.hold_notification(directory, NOTICE) is None
    held.write(NOTICE._replace(tries=1))
    assert outbox.hold_notification(directory, NOTICE) is None  # what he has written is his as well
    held.close()
    again = outbox.hold_notification(directory, NOTICE)
    assert again is not None
    assert again.notice.tries == 1
    again.remove()
    again.close()
    assert outbox.hold_notification(directory, NOTICE) is None
    assert outbox.list_pending(directory) == []


def test_whoever_opened_a_notice_that_is_written_anew_before_he_has_it_does_not_get_it(
    directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox.add_notification(directory, NOTICE)

    def too_late(fd: int, how: int) -> None:
        """Between opening and locking another tries it, writes that down, and lets it go."""
        monkeypatch.undo()
        other = outbox.hold_notification(directory, NOTICE)
        assert other is not None
        other.write(NOTICE._replace(tries=1))
        other.close()
        fcntl.flock(fd, how)

    monkeypatch.setattr("midwatch.notifications.outbox.fcntl.flock", too_late)
    assert outbox.hold_notification(directory, NOTICE) is None
    assert [notice.tries for notice in outbox.list_pending(directory)] == [1]


def test_a_notice_of_one_who_was_killed_is_free(directory: str) -> None:
    outbox.add_notification(directory, NOTICE)
    code = (
        "import sys; from midwatch.notifications import outbox; [notice] = outbox.list_pending(sys.argv[1]);"
        "held = outbox.hold_notification(sys.argv[1], notice); print(bool(held), flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    assert outbox.hold_notification(directory, NOTICE) is None
    holder.kill()
    holder.communicate()
    held = outbox.hold_notification(directory, NOTICE)
    assert held is not None
    held.close()


def test_what_is_there_already_is_not_filed_again(directory: str) -> None:
    outbox.add_notification(directory, NOTICE._replace(tries=3))
    outbox.add_notification(directory, NOTICE)
    assert [notice.tries for notice in outbox.list_pending(directory)] == [3]


def test_the_oldest_comes_first(directory: str) -> None:
    for name, filed in (("b", 3.0), ("c", 1.0), ("a", 2.0)):
        outbox.add_notification(directory, NOTICE._replace(id=name, filed=filed))
    assert [notice.id for notice in outbox.list_pending(directory)] == ["c", "a", "b"]


def test_one_stays_and_the_others_go(directory: str) -> None:
    post = outbox.acquire_retry_lease(directory)
    assert post is not None
    assert outbox.acquire_retry_lease(directory) is None
    os.close(post)
    free = outbox.acquire_retry_lease(directory)
    assert free is not None
    os.close(free)


def test_what_was_told_is_kept_by_name_and_run(directory: str) -> None:
    assert outbox.read_state(directory, "x", "r1") == NotificationState()
    outbox.write_state(directory, CHANGE, NotificationState("failed", final=True))
    assert outbox.read_state(directory, "x", "r1").final
    assert outbox.read_state(directory, "x", "r2") == NotificationState()
    Path(outbox.state_path(directory, "x", "r1")).write_text("{")
    assert outbox.read_state(directory, "x", "r1") == NotificationState()


@pytest.mark.parametrize("name", ["%3", "../x", "a/b", "", "ü", "x" * 300])
def test_any_name_makes_a_file_of_the_folder(directory: str, name: str) -> None:
    folder, _, file = outbox.state_path(directory, name, "1/../2").rpartition("/")
    assert (folder, file.isascii(), len(file) < 250) == (f"{directory}/outbox/told", True, True)


def test_what_was_told_is_forgotten_once_nobody_can_ask(directory: str) -> None:
    run = json.loads(GOLDEN.read_text())["run"]
    for name in ("build", "gone"):
        (Path(directory) / "build.json").write_text(GOLDEN.read_text())
        for told_of in (run, "another"):
            outbox.write_state(
                directory, CHANGE._replace(name=name, about=ChangeSubject(told_of)), NotificationState("failed")
            )
    outbox.remove_old_states(directory)
    folder = Path(directory) / "outbox" / "told"
    assert len(list(folder.iterdir())) == 4
    old = time.time() - outbox.FORGOTTEN - 10
    for path in folder.iterdir():
        os.utime(path, (old, old))
    outbox.remove_old_states(directory)
    assert [path.name for path in folder.iterdir()] == [f"build.{run}"]


def test_a_link_in_the_way_is_refused(tmp_path: Path) -> None:
    jobs, elsewhere = tmp_path / "jobs", tmp_path / "elsewhere"
    outbox.prepare_outbox(str(jobs))
    (jobs / "outbox").rename(elsewhere)
    (jobs / "outbox").symlink_to(elsewhere)
    with pytest.raises(RefusedError, match="is a symbolic link"):
        outbox.prepare_outbox(str(jobs))


def test_where_there_is_no_outbox_nothing_is_pending(tmp_path: Path) -> None:
    assert outbox.list_pending(str(tmp_path / "nowhere")) == []
