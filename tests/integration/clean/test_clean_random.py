"""With 100 jobs and 20 sessions in random states, `clean` touches nothing that lives, is watched or unread."""

from __future__ import annotations

import json
import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest

from midwatch.core.policy import PATIENT
from midwatch.jobs.job_directory import JobDirectory
from midwatch.subjects.clean import Cleaner
from midwatch.system import file_locks, processes, procfs
from tests.conftest import Box, kill, until, until_gone
from tests.integration.panes.private import Private
from tests.integration.spawn.office import Office

JOBS, SESSIONS = 100, 20
SLEEP = "exec sleep 600"
JOB_STATES = {
    "works": SLEEP, "alone": SLEEP, "suspended": SLEEP, "leaves": "setsid sleep 600 >&- 2>&- &",
    "ok": "true", "fails": "false", "dies": "kill -9 $$", "killed": SLEEP, "unsent": "true", "undelivered": "true",
    "mailed": "true", "held": "true", "reported": "true",
}  # fmt: skip
"""What a job runs in each state that a name begins with."""
FREE = {"ok", "fails", "dies", "killed"}
"""States in which a job may go."""
SESSION_STATES = ("lives", "over", "closed", "respawned", "beside", "monitored", "prompted", "moved")
FREE_SESSIONS = {"over", "closed", "beside", "moved"}


class Crowd:
    """Jobs and sessions whose names say in which state they are."""

    def __init__(self, office: Office, chance: random.Random) -> None:
        self.office, self.box = office, office.box
        self.names = [f"{chance.choice(list(JOB_STATES))}-{number}" for number in range(JOBS)]
        self.sessions = [f"{chance.choice(SESSION_STATES)}-s{number}" for number in range(SESSIONS)]
        self.held: list[int] = []
        for name in self.names:
            assert self.box(*self.job_words(name)).code == 0
        socket = str(office.tmux.socket)
        for name in self.sessions:
            words = ["spawn", name, "--agent", "program", "--socket", socket, "--", "sh", "-c", SLEEP]
            done = self.box(*words)
            assert done.code == 0, done
        for name in self.names:
            self.bring_job(name, name.partition("-")[0])
        for name in self.sessions:
            self.bring_session(name, name.partition("-")[0])
        for name in self.names:
            self.bring_files(name, name.partition("-")[0])

    def job_words(self, name: str) -> list[str]:
        return ["run", "-d", "--name", name, "--", "sh", "-c", JOB_STATES[name.partition("-")[0]]]

    def bring_job(self, name: str, state: str) -> None:
        if state in ("works", "alone", "suspended", "killed"):
            shim, work = self.box.pids(name)
            if state == "suspended":
                os.kill(work, signal.SIGSTOP)
            for pid in {"alone": [shim], "killed": [shim, work]}.get(state, []):
                kill(pid, signal.SIGKILL)
                until_gone(pid)
            return
        assert self.box("wait", name, "--until", "exited").code in (0, 1, 3)
        until(lambda: file_locks.is_free(f"{self.box.dir}/{name}.lock"))

    def bring_files(self, name: str, state: str) -> None:
        """What makes a difference in files alone; every verb begins to send what it finds, so none comes after."""
        run = self.box.record(name)["run"]
        if state == "unsent":
            self.put(f"outbox/unsent/{name}.{run}", "")
        elif state == "undelivered":
            notice = {
                "id": f"{name}-notice", "name": name, "run": run, "fields": {}, "channel": "c", "project": "/",
                "filed": 1.0, "number": 1,
            }  # fmt: skip
            self.put(f"outbox/{name}-notice.json", encode_notice(notice))
        elif state == "reported":
            self.put(f"outbox/reports/{name}.json", encode_report(name, run))
        elif state == "mailed":
            self.put(f"drop/{name}/abc123.md", "Subject: hello\n")
        elif state == "held":
            fd = file_locks.acquire(f"{self.box.dir}/{name}.lock")
            assert fd is not None
            self.held.append(fd)

    def bring_session(self, name: str, state: str) -> None:
        pane = self.box.record(name)["pane"]["id"]
        if state == "lives":
            return
        assert self.box("stop", name).code == 0
        tmux = self.office.tmux
        until(lambda: tmux("display-message", "-p", "-t", pane, "#{pane_dead}").strip() == "1")
        until(lambda: file_locks.is_free(f"{self.box.dir}/{name}.lock"))
        if state == "closed":
            tmux("kill-session", "-t", f"={name}")
        elif state == "respawned":
            tmux("respawn-pane", "-t", pane, "cat")
        elif state == "beside":
            tmux("split-window", "-d", "-t", pane, "cat")
        elif state == "moved":
            tmux("new-window", "-d", "-t", f"={name}:", "cat")
        elif state == "monitored":
            fd = file_locks.acquire(f"{self.box.dir}/{name}.actor")
            assert fd is not None
            self.held.append(fd)
        elif state == "prompted":
            note_prompt(str(tmux.socket), pane)

    def put(self, path: str, text: str) -> None:
        target = self.box.dir / path
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        target.write_text(text)

    def close(self) -> None:
        for fd in self.held:
            os.close(fd)


def encode_notice(notice: dict[str, Any]) -> str:
    from midwatch.notifications.codec import outbox_file  # noqa: PLC0415
    from midwatch.notifications.model import Notification  # noqa: PLC0415

    return outbox_file.encode_value(Notification(**notice))


def encode_report(name: str, run: str) -> str:
    from midwatch.notifications.codec import outbox_file  # noqa: PLC0415
    from midwatch.notifications.model import Change, ChangeSubject  # noqa: PLC0415

    fields: dict[str, Any] = {field: "" for field in Change._fields if field not in Change._field_defaults}
    change = Change(**{**fields, "name": name, "about": ChangeSubject(run), "at": 1.0, "wall": 1.0, "final": True})
    return outbox_file.encode_value(change)


def note_prompt(socket: str, pane: str) -> None:
    from midwatch.sessions.prompting import undelivered_store  # noqa: PLC0415

    undelivered_store.write_note(socket, pane, "go on", "nobody was there")


def living(box: Box) -> dict[int, int]:
    """Every process that a run of this box has left, with its start."""
    runs = {json.loads(path.read_text())["run"] for path in box.dir.glob("*.json")}
    pids = [pid for run in runs for pid in processes.find_run_processes(run)]
    pids += [json.loads(path.read_text())["shim"]["pid"] for path in box.dir.glob("*.json")]
    return {pid: procfs.start_time(pid) for pid in pids if processes.is_alive(pid, 0)}


def files(directory: Path, name: str) -> dict[str, int]:
    """Inodes of all that belongs to a name."""
    found = [*directory.glob(f"{name}.*"), *directory.glob(f"drop/{name}/*"), *directory.glob(f"archive/{name}/*/*")]
    return {str(path): path.lstat().st_ino for path in found}


def panes(tmux: Private) -> dict[str, str]:
    rows = tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_dead} #{pane_pid}").splitlines()
    return {row.partition(" ")[0]: row for row in rows}


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_that_lives_or_is_unread_is_touched(office: Office, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(office.home / "state"))
    office.tmux.start("cat", "keeps-the-server")
    crowd = Crowd(office, random.Random(seed))
    box = office.box
    try:
        check(crowd, box, office)
    finally:
        crowd.close()


def check(crowd: Crowd, box: Box, office: Office) -> None:
    names = [*crowd.names, *crowd.sessions]
    free = {name for name in names if name.partition("-")[0] in FREE | FREE_SESSIONS}
    before, alive_before, panes_before = {name: files(box.dir, name) for name in names}, living(box), panes(office.tmux)
    (box.dir / "mail").mkdir(mode=0o700)
    (box.dir / "mail" / "unread.md").write_text("Id: unread\n")
    cleaner = Cleaner(JobDirectory(str(box.dir), PATIENT))
    found = list(cleaner.clean_all(str(box.dir / "mail")))
    told = {item.name: item for item in found if item.kind in ("job", "session")}
    assert {name for name, item in told.items() if item.removed} == free, [item for item in found if not item.removed]
    for name in names:
        now = files(box.dir, name)
        assert now == ({} if name in free else before[name]), name
    assert {pid: procfs.start_time(pid) for pid in alive_before if processes.is_alive(pid, 0)} == alive_before
    after = panes(office.tmux)
    assert {pane: row for pane, row in panes_before.items() if row.split()[1] == "0"}.items() <= after.items()
    ours = {box_record(before, name) for name in crowd.sessions if name not in free}
    assert ours <= after.keys() | {""}
    assert (box.dir / "mail" / "unread.md").exists()
    again = list(Cleaner(JobDirectory(str(box.dir), PATIENT)).clean_all(str(box.dir / "mail")))
    assert not [item for item in again if item.removed and item.kind not in ("spools", "events")]


def box_record(before: dict[str, dict[str, int]], name: str) -> str:
    """The pane of a session that was to stay."""
    path = next(path for path in before[name] if path.endswith(f"{name}.json"))
    pane: str = json.loads(Path(path).read_text())["pane"]["id"]
    return pane
