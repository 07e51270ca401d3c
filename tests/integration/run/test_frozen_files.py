"""What the shim writes today has the shape that was frozen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conftest import Box

GOLDENS = Path(__file__).parents[2] / "goldens" / "formats" / "v1"


def shape(value: Any) -> Any:
    """Keys and kinds of a JSON value; numbers are one kind."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def holds(value: Any, frozen: Any) -> bool:
    """Whether a JSON value has all keys of a frozen one, each of its kind. It may have more: readers pass them over."""
    if isinstance(frozen, dict):
        return isinstance(value, dict) and all(key in value and holds(value[key], frozen[key]) for key in frozen)
    if isinstance(frozen, list) and frozen and value:
        return isinstance(value, list) and holds(value[0], frozen[0])
    return bool(shape(value) == shape(frozen))


def golden(name: str) -> Any:
    return json.loads((GOLDENS / name).read_text().splitlines()[0])


def test_record_seen_and_spool_have_the_frozen_shape(box: Box) -> None:
    box("run", "-d", "--name", "x", "--env", "CI=1", "--", "sh", "-c", "sleep 100 & exit 0")
    assert box("wait", "x").code == 0
    assert holds(box.record("x"), golden("completed.json"))
    seen = json.loads(box.path("x.seen").read_text())
    frozen = golden("stale.seen")
    assert shape(seen) == shape({**frozen, "stale_since": None})
    spooled = {
        json.loads(line)["event"]: json.loads(line)
        for line in (GOLDENS / "build.18f6a2b3c4d-a1b2c3.jsonl").read_text().splitlines()
    }
    for event in box.events("x"):
        assert event.keys() >= spooled[event["event"]].keys()


def test_what_a_retried_job_leaves_has_the_frozen_shape(box: Box) -> None:
    box("run", "-d", "--name", "x", "--retries", "1", "--backoff", "0", "--breaker", "night", "--", "false")
    assert box("wait", "x").code == 1
    assert holds(box.record("x"), golden("retried.json"))
    frozen = [json.loads(line) for line in (GOLDENS / "retried.18f6a2b3c4d-a1b2c3.jsonl").read_text().splitlines()]
    written = {event["event"]: event for event in box.events("x")}
    assert holds(written, {event["event"]: event for event in frozen})
    assert written.keys() == {event["event"] for event in frozen}


def test_a_beat_has_the_frozen_shape(box: Box) -> None:
    beat = f"{' '.join(box.program)} beat --note 'epoch 3' --progress 0.4"
    assert box("run", "--name", "x", "--", "sh", "-c", beat).code == 0
    assert shape(json.loads(box.drop("x.beat").read_text())) == shape(golden("noted.beat"))
