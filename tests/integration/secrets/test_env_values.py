"""The values of --env: in the memory of the shim while it may try again, and in no file."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Box

TOKEN = "s3cret-of-the-night"


def written(box: Box) -> list[Path]:
    """Files of the box that hold the value."""
    return [path for path in box.dir.rglob("*") if path.is_file() and TOKEN in path.read_text(errors="replace")]


def test_no_file_holds_a_value_while_the_job_runs_or_after(box: Box) -> None:
    box("run", "-d", "--name", "job", "--env", f"TOKEN={TOKEN}", "--", "sh", "-c", "read line < fifo; exit 1")
    assert written(box) == []
    record = box.record("job")
    assert (record["env"], record["withheld"]) == ({"TOKEN": ""}, ["TOKEN"])
    box("stop", "job")
    assert written(box) == []
    for call in (["show", "job"], ["show", "job", "--json"], ["why", "job", "--json"], ["events", "--json"]):
        assert TOKEN not in box(*call).out


def test_the_next_attempt_has_it(box: Box) -> None:
    again = ("--retries", "1", "--backoff", "0s")
    given = ("--env", f"TOKEN={TOKEN}")
    said = box("run", "--name", "job", *given, *again, "--", "sh", "-c", "echo $TOKEN | wc -c; false")
    assert said.out.split().count(str(len(TOKEN) + 1)) == 2
    assert written(box) == []


def test_retry_names_what_it_must_be_given_again(box: Box) -> None:
    both = ("--env", f"TOKEN={TOKEN}", "--env", "CI=1")
    box("run", "--name", "job", *both, "--", "sh", "-c", "echo $TOKEN-$CI")
    refused = box("retry", "job", "--env", "CI=1")
    assert refused.code == 12
    assert "was started with --env TOKEN, whose value is not kept" in refused.err
    assert "midwatch retry job --env TOKEN=…" in refused.err
    assert box("retry", "job", "--env", "TOKEN=new", "--env", "CI").code == 2  # CI is not set here
    assert box("retry", "job", "--env", "TOKEN=new", "--env", "CI", CI="2").code == 0
    box("wait", "job")
    assert box("logs", "job").out == "new-2\n"


def test_a_record_of_an_earlier_release_can_be_retried_and_loses_its_values_then(box: Box) -> None:
    box("run", "--name", "job", "--env", "TOKEN=x", "--", "sh", "-c", 'test -n "$TOKEN"')
    old = box.record("job") | {"env": {"TOKEN": TOKEN}}
    del old["withheld"]
    box.path("job.json").write_text(json.dumps(old))
    shown = box("show", "job", "--json")
    assert TOKEN not in shown.out
    assert shown.json["record"]["env"].keys() == {"TOKEN"}
    assert box("retry", "job").code == 0
    assert box("wait", "job").code == 0
    assert written(box) == []
    [archived] = box.dir.glob("archive/job/*/job.json")
    assert json.loads(archived.read_text())["withheld"] == ["TOKEN"]
