"""Records and notes that are half written, spoiled or no records at all."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from midwatch.cli import output
from midwatch.cli.commands import why
from midwatch.core.policy import PATIENT
from midwatch.jobs.job_directory import JobDirectory
from tests.conftest import Box
from tests.integration.wait.watching import (
    Gate,
    finish,
    listed,
    silent_for,
    start,
    start_gated,
    waiter,
    within,
)

HALF = '{"schema": 1, "kind": "job", "name": "step", "run": "r", "command": ["x'
WRONG: tuple[object, ...] = (None, "x", "", -1, 0, 1 << 70, 1e308, True, [], [7], {}, {"x": 7})


def spoiled(value: Any) -> Iterator[tuple[str, Any]]:
    """Copies of a JSON value, each with one thing in it wrong or missing, and where."""
    parts: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list):
        parts = list(enumerate(value))
    for key, inner in parts:
        for where, copy in spoiled(inner):
            changed = value.copy()
            changed[key] = copy
            yield f"{key}.{where}", changed
        for wrong in WRONG:
            changed = value.copy()
            changed[key] = wrong
            yield f"{key} = {wrong!r}", changed
        changed = value.copy()
        del changed[key]
        yield f"{key} is missing", changed


def tracebacks(box: Box, suffix: str) -> list[str]:
    """Look at a job with its file spoiled in every way; what a face could not say, and why."""
    path, found = (box.drop if suffix == "beat" else box.path)(f"job.{suffix}"), []
    whole = path.read_text()
    looker = JobDirectory(str(box.dir), PATIENT)
    try:
        for where, copy in spoiled(json.loads(whole)):
            path.write_text(json.dumps(copy))
            try:
                verdict = looker.verdict("job")
                assert output.as_json(verdict)
                assert why.as_json(verdict)
                assert output.format_table([verdict])
            except Exception as error:  # noqa: BLE001  # whatever it is, it is a fault of ours
                found.append(f"{where}: {type(error).__name__} {error}")
    finally:
        path.write_text(whole)
    return found


@pytest.fixture(autouse=True)
def _directory(box: Box) -> None:
    box.dir.mkdir(mode=0o700)


def write(box: Box, **files: str) -> None:
    for suffix, text in files.items():
        box.path(f"step.{suffix}").write_text(text)


def test_a_half_written_record_is_unknown_and_named(box: Box) -> None:
    write(box, json=HALF)
    assert within(box, 8, "wait", "step").code == 12
    assert "its record cannot be read" in box("why", "step").out


def test_a_half_written_record_does_not_hide_the_status(box: Box) -> None:
    write(box, json=HALF, status="FAILED\n")
    assert box("wait", "step").code == 1


def test_a_record_spoiled_while_the_work_runs_does_not_lose_the_verdict(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "exit 8")
    whole = box.path("job.json").read_text()
    box.path("job.json").write_text(whole[:100])
    with waiter(box, "job") as process:
        assert silent_for(process, 1.3)
        gate.say()
        assert finish(process).json["exit_code"] == 8


def test_no_spoiled_record_of_live_work_is_a_traceback(box: Box) -> None:
    start(box, "job", "sleep", "300")
    found = tracebacks(box, "json")
    assert not found, "\n".join(found)


def test_no_spoiled_record_of_work_that_has_ended_is_a_traceback(box: Box) -> None:
    start(box, "job", "sh", "-c", "(setsid sleep 300 &); exit 3")
    assert box("wait", "job").code == 1
    found = tracebacks(box, "json")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("suffix", ["seen", "beat"])
def test_no_spoiled_note_is_a_traceback(box: Box, suffix: str) -> None:
    start(box, "job", "sleep", "300")
    assert box("beat", "--dir", str(box.dir), "--name", "job", "--note", "x", "--progress", "0.5").code == 0
    found = tracebacks(box, suffix)
    assert not found, "\n".join(found)


def test_one_spoiled_record_does_not_hide_the_other_jobs(box: Box) -> None:
    start(box, "job", "sleep", "300")
    write(box, json=json.dumps(box.record("job") | {"started_mono": None}))
    assert listed(box)["job"]["state"] == "working"


@pytest.mark.parametrize("text", ["", "null", "7", "[]", '"x"', "{}", "[" * 100_000], ids=lambda text: text[:4])
def test_a_record_that_is_no_record_gives_a_verdict_and_no_traceback(box: Box, text: str) -> None:
    write(box, json=text)
    done = box("ls", "--json")
    box.path("step.json").unlink()  # the sweep after the test reads records, too
    assert (done.code, done.json["state"]) == (0, "unknown"), done


@pytest.mark.parametrize("suffix", ["seen", "beat"])
@pytest.mark.parametrize("text", ["", "{", "[]", "7", "\x00"], ids=["empty", "open", "list", "number", "nul"])
def test_notes_of_rubbish_change_no_verdict(box: Box, gate: Gate, suffix: str, text: str) -> None:
    start_gated(box, gate, "job", "exit 8")
    box.path(f"job.{suffix}").write_text(text)
    said = listed(box)["job"]
    assert said["state"] == "working"
    gate.say()
    assert box("wait", "job", "--json").json["exit_code"] == 8
