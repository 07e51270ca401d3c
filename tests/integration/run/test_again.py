"""Starting a name again while someone looks: what is seen is one run's truth or the other's."""

from __future__ import annotations

import os

import pytest

from midwatch.core.job_model import Identity, Process
from midwatch.core.policy import PATIENT
from midwatch.jobs import name_claim
from midwatch.jobs.job_directory import JobDirectory
from midwatch.system import processes
from tests.conftest import Box


@pytest.mark.parametrize(("script", "end"), [("exit 0", "completed"), ("kill -9 $PPID; kill -9 $$", "crashed")])
def test_between_any_two_steps_of_putting_a_run_away_its_own_end_is_seen_or_nothing(
    box: Box, monkeypatch: pytest.MonkeyPatch, script: str, end: str
) -> None:
    box("run", "-d", "--name", "job", "--", "sh", "-c", script)
    assert box("wait", "job", "--json").json["state"] == end
    looker, seen, rename = JobDirectory(str(box.dir), PATIENT), [], os.rename

    def looked_at(source: str, target: str) -> None:
        rename(source, target)
        seen.append(looker.verdict("job").state)

    monkeypatch.setattr(name_claim.os, "rename", looked_at)  # type: ignore[attr-defined]
    name_claim.archive_run(str(box.dir), "job")
    assert seen[-1] == "not_found"
    assert set(seen[:-1]) == {end}


def test_a_run_that_takes_the_place_of_another_while_it_is_looked_at_is_judged_by_its_own_processes(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    box("run", "-d", "--name", "job", "--", "sleep", "300")
    looker = JobDirectory(str(box.dir), PATIENT)
    look_for = processes.find_process
    swapped: list[int] = []

    def swap(meant: Identity, place: processes.ProcessPlace) -> Process:
        if not swapped:
            swapped.append(1)
            assert box("stop", "job").code == 0
            box("run", "-d", "--name", "job", "--", "sleep", "300")
        return look_for(meant, place)

    monkeypatch.setattr(processes, "find_process", swap)
    verdict = looker.verdict("job")
    assert (verdict.state, swapped) == ("working", [1]), verdict
