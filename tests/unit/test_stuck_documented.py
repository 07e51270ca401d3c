"""The table of what counts as stuck says what the code does: sources and thresholds as they are, vetoes as they act."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from midwatch.agents import evidence
from midwatch.agents.catalog import Detectors
from midwatch.agents.turn_model import Presence, SessionFacts, SessionMemory, SourceReading
from midwatch.core.job_model import (
    Alive,
    End,
    Gone,
    Identity,
    JobFacts,
    ProgressSnapshot,
    ProgressSource,
    Record,
    Unseen,
)
from midwatch.core.pane_model import Observation
from midwatch.core.policy import PATIENT, PROGRESS_SOURCES
from midwatch.core.stuck import Patience
from midwatch.core.text import format_duration
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.replay.model import OtherPolicy, RunHappening
from midwatch.replay.rules import policy_comparison, replay_job
from midwatch.sessions.codec import recording
from midwatch.sessions.rules import verdict as session_verdict
from midwatch.taskdir.model import TaskFacts, TaskNotes, TaskNumbers, TaskPaneState
from midwatch.taskdir.observe import TaskObserver
from midwatch.taskdir.rules import verdict as task_verdict

ROOT = Path(__file__).parents[2]
WATCHED = ("jobs", "sessions", "task directories", "replay of jobs")
NOW, SILENT = 10_000.0, 5_000.0
LOOKS = 400
WHO = Identity("h", "b", "n", 42, 7)
ALIVE, SUSPENDED = Alive(42, "S"), Alive(42, "T")


def read_table() -> dict[str, dict[str, str]]:
    """The rows by their first cell, each with a cell for everything that is watched."""
    part = (ROOT / "docs/reference/states.md").read_text().split("## What counts as stuck\n", 1)[1].split("\n## ", 1)[0]
    lines = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")]
    assert [cell.strip() for cell in lines[0]] == list(WATCHED)
    return {first: dict(zip(WATCHED, cells, strict=True)) for first, *cells in lines[1:]}


TABLE = read_table()
VETOES = {row.removeprefix("veto: "): cells for row, cells in TABLE.items() if row.startswith("veto: ")}


def named(cell: str) -> set[str]:
    return set(re.findall(r"`([a-z]+)`", cell))


# Sources and thresholds


def test_sources_of_progress_of_a_job() -> None:
    cell = TABLE["progress"]["jobs"]
    assert named(cell) == set(PROGRESS_SOURCES)
    assert named(cell.split(";")[0]) == set(PATIENT.progress)


def test_sources_of_a_session() -> None:
    known, found, signs = Detectors(), set[str](), set[str]()
    for path in sorted((ROOT / "tests/goldens/agents/timelines").glob("*.jsonl"))[::12]:
        with path.open(encoding="utf-8") as lines:
            for each in recording.read_recording(lines, str(path)):
                if isinstance(each, Observation):
                    facts = evidence.build_facts(known[each.agent], each, "n")
                    found |= {name.split()[-1] for name in facts.progress}
                    signs |= set(facts.life)
    assert found <= named(TABLE["progress"]["sessions"]) == {"text", "tools", *evidence.GROWS}
    assert signs | {"clock"} == named(TABLE["signs of life"]["sessions"])


def test_sources_of_a_task_directory(tmp_path: Path) -> None:
    (tmp_path / "pid").write_text(str(os.getpid()))
    seen = TaskObserver("s", str(tmp_path), (), "").observe(
        TaskNotes("", 0.0, 0.0), 90.0, TaskPaneState(wrote=time.time(), screen=1.0)
    )
    assert set(seen.notes.sources) == named(TABLE["progress"]["task directories"])


def read_thresholds(watched: str) -> dict[str, str]:
    return {row: cells[watched].split(",")[0].split(" (")[0] for row, cells in TABLE.items() if "after" in row}


@pytest.mark.parametrize(
    ("watched", "patience"),
    [
        ("jobs", job_verdict.build_patience(PATIENT)),
        ("sessions", session_verdict.build_patience(PATIENT)),
        ("task directories", task_verdict.build_patience(TaskNumbers())),
    ],
)
def test_thresholds(watched: str, patience: Patience) -> None:
    assert read_thresholds(watched) == {
        "`quiet` after": format_duration(patience.quiet_s),
        "`stalled` after": format_duration(patience.stale_s),
        "`frozen` after": "never" if patience.frozen_s == float("inf") else format_duration(patience.frozen_s),
        "then `stuck` after": format_duration(patience.grace_s),
    }


def test_thresholds_of_a_replay_are_those_of_the_policy_that_is_given() -> None:
    patient = PATIENT._replace(stale_s=5000.0)
    end = End("completed", 0, None, "", 2000.0, 2000.0, ())
    events = [
        RunHappening("n", "r", "started", 0.0, 1, 0.0, policy=patient, began=0.0, retries=0),
        RunHappening("n", "r", "ended", 2000.0, 2, 2000.0, end=end, moved={"output": 0.0}),
    ]
    rows, _ = policy_comparison.compare_attempt(replay_job.begin_run(events[0]), events, OtherPolicy(PATIENT, {}))
    said = {str(row.now.get("progress", row.now["state"])): row.at for row in rows if row.now}
    assert read_thresholds("replay of jobs") == {
        "`quiet` after": "-",
        "`stalled` after": format_duration(said["stalled"]),
        "`frozen` after": "never",
        "then `stuck` after": format_duration(said["stuck"] - said["stalled"]),
    }


# Vetoes: each is put to evidence that is stuck without it

GONE, UNSEEN = Gone("it has ended"), Unseen("it is on another host")
CLOCK = "a clock advances (`clock = final`)"
OF_A_JOB: dict[str, dict[str, object]] = {
    "no look before": {"seen": None},
    "the work is suspended": {"work": SUSPENDED},
    "the supervisor is suspended": {"shim": SUSPENDED},
    "its processes cannot be seen": {"work": UNSEEN},
    "its process has ended": {"work": GONE},
}
OF_A_SESSION = {
    "no look before": ("working", "alive"),
    "the work is suspended": ("working", "suspended"),
    "its process has ended": ("working", "gone"),
    "the turn waits for a person": ("waiting", "alive"),
    "the turn is at a limit": ("limited", "alive"),
    "the turn is over": ("idle", "alive"),
    "the turn cannot be told": ("unknown", "alive"),
    CLOCK: ("working", "alive"),
}
OF_A_TASK: dict[str, dict[str, object]] = {
    "no look before": {"notes": TaskNotes("b", NOW, 0.0)},
    "the work is suspended": {"agent": SUSPENDED},
    "its processes cannot be seen": {"agent": UNSEEN},
    "its process has ended": {"agent": GONE},
    "the turn waits for a person": {"turn": ("waiting", "permission", "it asks")},
    "the turn is at a limit": {"turn": ("limited", "limit", "its service refuses")},
}
OF_A_REPLAY: dict[str, dict[str, object]] = {"the work is suspended": {"suspended_at": NOW - 1.0}}


def judge_job(veto: str) -> str:
    seen = ProgressSnapshot(
        "r", "b", NOW, NOW - 100.0, stuck=True, sources={"output": ProgressSource(0.0, NOW, NOW - SILENT)}
    )
    record = Record("n", "r", ("x",), "/", PATIENT, 0.0, 0.0, WHO, WHO, (), None)
    facts = JobFacts("n", NOW, record=record, shim=ALIVE, work=ALIVE, seen=seen)
    return job_verdict.judge(facts._replace(**OF_A_JOB.get(veto, {}))).state  # type: ignore[arg-type]


def judge_session(veto: str) -> str:
    """A turn whose screen moved once; the veto is there at the last look, when all before it would say stuck."""
    memory: SessionMemory | None = None
    policy = PATIENT._replace(clock="final" if veto == CLOCK else "life")
    for step in range(LOOKS):
        last = step == LOOKS - 1
        turn, there = OF_A_SESSION.get(veto, ("working", "alive")) if last else ("working", "alive")
        facts = SessionFacts(
            "n", "Claude", 2.0 * step, 2.0 * step, (SourceReading("state", turn, "", "rule"),),
            Presence(there, "it", 7), {"text": "a"},
            {"screen": str(min(step, 1)), "clock": f"10:00:0{int(last and veto == CLOCK)}"},
        )  # fmt: skip
        remembered = None if last and veto == "no look before" else memory
        verdict, memory = session_verdict.judge(facts, remembered, policy)
    return verdict.state


def judge_task(veto: str) -> str:
    sources = {"output": ProgressSource(0.0, NOW, NOW - SILENT)}
    notes = TaskNotes("b", NOW, 0.0, sources=sources, stale_since=NOW - 100.0, stuck=True)
    facts = TaskFacts("n", "/d", NOW, notes, agent=ALIVE)
    return task_verdict.judge(facts._replace(**OF_A_TASK.get(veto, {})), TaskNumbers()).state  # type: ignore[arg-type]


def judge_replay(veto: str) -> str:
    story = replay_job.RunState("n", "r", 0.0, 0.0, policy=PATIENT, stale_since=NOW - 100.0, stuck=True)
    story = story._replace(**OF_A_REPLAY.get(veto, {}))  # type: ignore[arg-type]
    facts = replay_job.build_facts(story, NOW, replay_job.build_sources(story, NOW - SILENT))
    return job_verdict.judge(facts).state


JUDGES: dict[str, tuple[Callable[[str], str], Iterable[str]]] = {
    "jobs": (judge_job, OF_A_JOB),
    "sessions": (judge_session, OF_A_SESSION),
    "task directories": (judge_task, OF_A_TASK),
    "replay of jobs": (judge_replay, OF_A_REPLAY),
}


@pytest.mark.parametrize("watched", WATCHED)
def test_vetoes_act_where_the_table_says_so(watched: str) -> None:
    judge, tried = JUDGES[watched]
    assert judge("") == "stuck"
    assert {veto for veto in tried if judge(veto) != "stuck"} == set(tried)
    assert {veto for veto, cells in VETOES.items() if cells[watched].startswith("forbids")} == set(tried)
    assert {cells[watched] for veto, cells in VETOES.items() if veto not in tried} <= {"-"}
