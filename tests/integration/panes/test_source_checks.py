"""A source that contradicts a stronger one is found out, remembered, shown and reported; in a real pane, by a clock
that the test winds on.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from midwatch.agents import catalog
from midwatch.agents.source_checks import store as source_checks_store
from midwatch.agents.source_checks.model import CONTRADICTS, Claim, ClaimRecord, Disbelief, PastOutcome, Release
from midwatch.agents.source_checks.rules import ENOUGH, TIMING
from midwatch.config import paths as config_paths
from midwatch.core.verdict import Verdict
from midwatch.notifications import outbox
from midwatch.sessions import pane_observer as panes_loop
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.source_checks import MOST_MOMENTS
from midwatch.system import procfs
from tests.conftest import Box, tool, until
from tests.integration.panes.private import Private

OURS = Path(catalog.OURS) / "claude" / catalog.FILE
RELEASE = "2.1.325"
NOTE = f"title: idle, by rule title-rest, is not believed for Claude Code {RELEASE}"


class Clock:
    """In place of the time module of the watcher."""

    def __init__(self) -> None:
        self.passed = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.passed

    def time(self) -> float:
        return time.time() + self.passed


class Agent:
    """A process of Claude Code's name with a title, and a state file that the test writes."""

    def __init__(self, private: Private, directory: Path, home: Path) -> None:
        self.private = private
        self.home = home
        program = directory / "claude"
        shutil.copy(tool("sleep"), program)
        self.pane = private.start(f"stty -echo; exec env HOME={home} {program} 1000", name="work")
        self.title("✳ Claude Code")
        self.pid = int(private("display-message", "-p", "-t", self.pane, "#{pane_pid}"))
        until(lambda: "claude" in procfs.read_text(f"/proc/{self.pid}/cmdline"))

    def title(self, text: str) -> None:
        self.private("select-pane", "-t", self.pane, "-T", text)

    def says(self, status: str) -> None:
        sessions = self.home / ".claude" / "sessions"
        sessions.mkdir(parents=True, exist_ok=True)
        start = str(procfs.start_time(self.pid))
        told = {"pid": self.pid, "procStart": start, "sessionId": "s", "status": status, "version": RELEASE}
        (sessions / "new").write_text(json.dumps(told))
        (sessions / "new").rename(sessions / f"{self.pid}.json")


class Watcher:
    def __init__(self, agent: Agent, clock: Clock) -> None:
        self.agent = agent
        self.clock = clock
        self.panes = PaneObserver(catalog.load_all(), config_paths.hook_spool(), agent.private.server)

    def observe(self, after: float = 1.0) -> Verdict:
        self.clock.passed += after
        return self.panes.observe(self.agent.pane).seen[0].verdict

    def watch(self, status: str, seconds: float = TIMING + 3) -> Verdict:
        self.agent.says(status)
        for _ in range(int(seconds)):
            verdict = self.observe()
        return verdict


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(panes_loop, "time", SimpleNamespace(monotonic=found.monotonic, time=found.time))
    return found


@pytest.fixture
def own(box: Box, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Box:
    """A user whose file for Claude Code believes its title, whatever the release."""
    for name in ("state", "config"):
        box.env[f"XDG_{name.upper()}_HOME"] = str(tmp_path / name)
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / name))
    monkeypatch.setenv("MIDWATCH_HOME", str(box.dir))
    monkeypatch.chdir(box.cwd)
    file = tmp_path / "config" / "midwatch" / "agents" / "claude.toml"
    file.parent.mkdir(parents=True)
    before, rule, after = OURS.read_text().partition('name = "title-rest"')
    limits = ('versions = "- 2.1.198"\n', "when.version = '\\d'\n")
    for limit in limits:
        after = after.replace(limit, "", 1)
    file.write_text(before + rule + after)
    return box


@pytest.fixture
def watcher(private: Private, own: Box, clock: Clock, tmp_path: Path) -> Watcher:
    return Watcher(Agent(private, tmp_path, own.cwd), clock)


def find_out(watcher: Watcher) -> None:
    for _ in range(ENOUGH):
        watcher.watch("idle")
        watcher.watch("busy")


def drifts(box: Box) -> list[dict[str, Any]]:
    lines = box("events", "--json").out.splitlines()
    return [found for found in map(json.loads, lines) if found["event"] == "drift"]


def notes(verdict: Verdict) -> list[str]:
    return [piece.says for piece in verdict.against if piece.source == "note"]


def test_a_title_that_is_the_same_at_work_and_at_rest_is_found_out(watcher: Watcher, own: Box) -> None:
    for _ in range(ENOUGH - 1):
        watcher.watch("busy")
        watcher.watch("idle")
    assert not notes(watcher.observe())
    assert not drifts(own)
    assert not list(Path(config_paths.state_root()).glob("evidence/*"))
    verdict = watcher.watch("busy")
    assert [note for note in notes(verdict) if note.startswith(NOTE)]
    assert (verdict.turn, verdict.doubts) == ("working", ("sources-disagree",))
    assert "title" not in {piece.source for piece in (*verdict.evidence, *verdict.against)}
    assert [found["class"] for found in drifts(own)] == ["source"]


def test_without_the_strong_source_nothing_is_said_then(watcher: Watcher) -> None:
    find_out(watcher)
    (watcher.agent.home / ".claude" / "sessions" / f"{watcher.agent.pid}.json").unlink()
    for _ in range(8):
        verdict = watcher.observe()
    assert (verdict.turn, verdict.state) == ("unknown", "unknown")
    assert [note for note in notes(verdict) if note.startswith(NOTE)]


def test_it_is_reported_once_with_evidence_that_replay_reads(watcher: Watcher, own: Box) -> None:
    find_out(watcher)
    find_out(watcher)
    find_out(Watcher(watcher.agent, watcher.clock))
    (found,) = drifts(own)
    assert found["name"] == "claude"
    assert {"agent": "claude", "version": RELEASE, "source": "title", "by": "state"}.items() <= found["before"].items()
    assert f"`midwatch replay {found['evidence']}` shows it" in found["reason"]
    path = Path(found["evidence"])
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    header, *looks = map(json.loads, path.read_text().splitlines())
    assert header["doubted"] == {"source": "title", "turn": "idle", "rule": "title-rest", "by": "state"}
    assert 2 <= len(looks) <= MOST_MOMENTS
    done = own("replay", str(path))
    assert done.code == 0, done
    says = "state says working, by rule file-busy; title says idle, by rule title-rest"
    assert done.out.count(says) == len(looks)
    assert "=  working: a turn is under way" in done.out
    assert [json.loads(line)["note"] for line in own("replay", str(path), "--json").out.splitlines()] == [says] * len(
        looks
    )


def test_the_evidence_is_bounded_however_often_one_looks(watcher: Watcher, own: Box) -> None:
    for _ in range(ENOUGH - 1):
        watcher.watch("busy")
        watcher.watch("idle")
    watcher.agent.says("busy")
    for _ in range(60):
        watcher.observe(0.1)
    (found,) = drifts(own)
    looks = [json.loads(line) for line in Path(found["evidence"]).read_text().splitlines()[1:]]
    assert len(looks) == MOST_MOMENTS
    assert looks[-1]["at"] >= TIMING  # the first is kept, whatever is dropped between


def test_those_who_want_to_hear_of_drifts_are_told_once(watcher: Watcher, own: Box, tmp_path: Path) -> None:
    told = tmp_path / "told"
    script = tmp_path / "tell"
    script.write_text(f'#!/bin/sh\necho "$1" >> {told}\n')
    script.chmod(0o755)
    settings = tmp_path / "config" / "midwatch" / "config.toml"
    settings.write_text(f'[notify]\ncommand = "{script} {{text}}"\non = ["drift"]\n')
    find_out(watcher)
    find_out(watcher)
    until(lambda: told.exists() and not outbox.list_pending(str(own.dir)))
    (line,) = told.read_text().splitlines()
    assert NOTE in line


def test_why_doctor_and_ls_show_it(watcher: Watcher, own: Box) -> None:
    watcher.agent.says("busy")
    server, pane = watcher.agent.private.server, watcher.agent.pane
    assert NOTE not in own("why", pane, *server).out
    find_out(watcher)
    watcher.agent.says("busy")
    assert NOTE in own("why", pane, *server).out
    told = own("why", pane, *server, "--json").json
    assert told["doubts"] == ["sources-disagree"]
    shown = [json.loads(line) for line in own("doctor", "--json", *server).out.splitlines()]
    (doubt,) = [each for each in shown if each["about"] == "claude" and each["says"].startswith(NOTE)]
    assert f"contradicted by its state file in {ENOUGH} of" in doubt["says"]
    assert ", since 20" in doubt["says"]
    assert doubt["mend"].startswith(
        f"`midwatch replay {config_paths.state_root()}/evidence/claude-{RELEASE}-title-idle"
    )
    assert "[sources disagree]" in own("ls", "--panes", *server).out
    assert own("ls", "--panes", "--json", *server).json["doubts"] == ["sources-disagree"]
    watcher.agent.says("idle")
    assert "[" not in own("ls", "--panes", *server).out
    assert own("ls", "--panes", "--json", *server).json["doubts"] == []


def test_a_single_look_counts_nothing(watcher: Watcher, own: Box) -> None:
    server, pane = watcher.agent.private.server, watcher.agent.pane
    watcher.agent.says("busy")
    own("ls", "--panes", *server)
    own("why", pane, *server)
    assert not Path(source_checks_store.records_path()).exists()


def test_it_is_believed_again_when_it_has_changed_with_the_turn_for_long_enough(watcher: Watcher, own: Box) -> None:
    find_out(watcher)
    watcher.watch("idle")
    for _ in range(5):
        watcher.agent.title("⠂ Claude Code")
        watcher.watch("busy")
        watcher.agent.title("✳ Claude Code")
        verdict = watcher.watch("idle")
    assert not notes(verdict)
    assert "title" in {piece.source for piece in verdict.evidence}
    assert not [line for line in own("doctor", "--json").out.splitlines() if NOTE in line]
    find_out(watcher)
    assert len(drifts(own)) == 2


def test_our_own_file_never_gets_there(private: Private, own: Box, clock: Clock, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "config")
    find_out(Watcher(Agent(private, tmp_path, own.cwd), clock))
    assert not drifts(own)


def test_ls_marks_a_release_that_nobody_has_tried(watcher: Watcher, own: Box, tmp_path: Path) -> None:
    file = tmp_path / "config" / "midwatch" / "agents" / "claude.toml"
    changed, count = re.subn(r"^tested = .*$", 'tested = ["1.0.0"]', file.read_text(), flags=re.MULTILINE)
    assert count == 1
    file.write_text(changed)
    watcher.agent.says("idle")
    server = watcher.agent.private.server
    assert "[untested release]" in own("ls", "--panes", *server).out
    assert own("ls", "--panes", "--json", *server).json["doubts"] == ["untested-release"]


# The file -------------------------------------------------------------------------------------------------------------

COUNT = """
import sys
from midwatch.agents.source_checks.rules import count_comparison
from midwatch.agents.source_checks.model import AGREES, Claim, Comparison
from midwatch.agents.source_checks import store as source_records
who = sys.argv[1]
for n in range(25):
    one = Comparison(Claim("title", "idle", f"{who}{n}"), AGREES, "state", 1.0)
    assert source_records.update_records(lambda records: count_comparison(records, "x", "1", one, who, 6.0)[0])
"""


def test_two_watchers_at_once_lose_nothing(own: Box) -> None:
    both = [subprocess.Popen([sys.executable, "-c", COUNT, who], env=own.env) for who in "ab"]
    assert [each.wait() for each in both] == [0, 0]
    (release,) = source_checks_store.read_records().records
    assert {each.claim.rule for each in release.claims} == {f"{who}{n}" for who in "ab" for n in range(25)}
    assert os.stat(source_checks_store.records_path()).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("spoiled", ["", "{", '{"schema":1}', '{"schema":1,"releases":[{"agent":5}]}', "[]"])
def test_what_cannot_be_read_counts_as_empty_and_doctor_says_so(watcher: Watcher, own: Box, spoiled: str) -> None:
    file = Path(source_checks_store.records_path())
    file.parent.mkdir(parents=True)
    file.write_text(spoiled)
    said = [each for each in map(json.loads, own("doctor", "--json").out.splitlines()) if each["about"] == "sources"]
    assert [each["level"] for each in said] == ["warning"]
    assert str(file) in said[0]["says"]
    find_out(watcher)
    assert drifts(own)


def test_what_a_later_version_wrote_is_left_alone(watcher: Watcher, own: Box) -> None:
    file = Path(source_checks_store.records_path())
    file.parent.mkdir(parents=True)
    file.write_text('{"schema":2,"more":[]}')
    find_out(watcher)
    assert file.read_text() == '{"schema":2,"more":[]}'
    assert "of version 2, and only 1 is understood" in own("doctor").out


def test_a_state_directory_that_cannot_be_written_breaks_no_watcher(watcher: Watcher, own: Box, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no directory")
    find_out(watcher)
    assert watcher.observe().turn == "working"
    assert own("ls", "--panes", *watcher.agent.private.server).code == 0


def test_foreign_words_make_no_path(own: Box) -> None:
    where = source_checks_store.recording_path("claude", "../../2.1\n\x1b[31m", Claim("title", "idle", "a/b"))
    assert os.path.dirname(where) == f"{own.env['XDG_STATE_HOME']}/midwatch/evidence"
    assert os.path.basename(where).isprintable()


def test_only_the_newest_recordings_are_kept(own: Box) -> None:  # noqa: ARG001
    paths = [source_checks_store.recording_path("x", str(n), Claim("title", "idle", "r")) for n in range(25)]
    for n, path in enumerate(paths):
        source_checks_store.write_recording(path, "{}\n")
        os.utime(path, (n, n))
    assert [os.path.exists(path) for path in paths] == [False] * 5 + [True] * 20


def test_evidence_that_is_gone_is_not_pointed_to(own: Box) -> None:
    doubt = Disbelief(1e9, "hook", 3, 4, "/gone.jsonl")
    outcome = PastOutcome(1e9, CONTRADICTS, "hook", "1-1")
    record = ClaimRecord(Claim("screen", "idle", "prompt"), (outcome,), doubt)
    assert source_checks_store.update_records(lambda _: (Release("codex", "", (record,)),))
    (said,) = [each for each in map(json.loads, own("doctor", "--json").out.splitlines()) if each["about"] == "codex"]
    assert "for Codex of an unknown release (contradicted by its hooks in 3 of 4 turns)" in said["says"]
    assert said["mend"] == ""
