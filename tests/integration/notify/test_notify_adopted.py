"""Work that somebody else started is told of by its keeper, and what is overdue by whoever comes by."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from midwatch.notifications import deliver, report_change
from tests.conftest import Box, until
from tests.integration.notify.conftest import Notices


def test_its_silence_and_its_end_are_told_with_nobody_waiting(notices: Notices, box: Box) -> None:
    notices.mine(notices.command(fields='"{name} {state}"'))
    with subprocess.Popen(["sleep", "1000"]) as work:
        slow = ("--stale", "1", "--grace", "0.5", "--heartbeat", "0.4")
        assert box("adopt", "--pid", str(work.pid), "--name", "theirs", *slow).code == 0
        until(lambda: notices.delivered() == [["theirs stuck"]])
        work.kill()
    until(lambda: len(notices.delivered()) == 2)
    assert box.record("theirs")["notify"] == str(notices.home)
    assert notices.delivered()[1] in (["theirs crashed"], ["theirs unknown"])  # as far as the kernel tells


def test_a_watcher_that_comes_by_has_delivered_what_is_due(
    notices: Notices, box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mended = str(tmp_path / "mended")
    notices.mine(notices.command(then=f"sys.exit(not os.path.exists({mended!r}))"))
    teller = notices.start(notices.change())
    until(lambda: any(notice["trouble"] for notice in notices.pending()))
    teller.kill()
    teller.wait()
    for key, value in box.env.items():
        monkeypatch.setenv(key, value)
    deliver.note_due_time(str(box.dir))
    report_change.start_delivery(str(box.dir))
    assert notices.tellers() == []  # it is not due yet
    [left] = notices.pending()
    (box.dir / "outbox" / f"{left['id']}.json").write_text(json.dumps(left | {"again": 1.0}))
    deliver.note_due_time(str(box.dir))
    Path(mended).touch()

    def is_delivered_by_whoever_comes() -> bool:
        report_change.start_delivery(str(box.dir))
        return notices.pending() == []

    until(is_delivered_by_whoever_comes)
    assert len(notices.delivered()) == 2
