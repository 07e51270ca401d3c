"""What counts as movement."""

import os
import signal
import subprocess
import sys

import pytest

from midwatch.system import procfs


def tracked(source: str, before: float, after: float, span: float) -> float:
    """When a source moved, sampled first at 0 and again after a span."""
    sources: procfs.Sources = {source: (before, 0.0, 0.0)}
    procfs.update_sources(sources, {source: after}, span)
    return sources[source][2]


@pytest.mark.parametrize(
    ("source", "after", "span", "moved"),
    [
        ("output", 1.0, 5.0, True),
        ("output", 0.0, 5.0, False),
        ("output", -1.0, 5.0, True),  # a log that was truncated moved too
        ("beat", 1.0, 0.1, True),
        ("cpu", 0.2, 10.0, True),  # 2 % of a core
        ("cpu", 0.19, 10.0, False),
        ("cpu", 0.07, 20.0, False),  # a shell loop that only sleeps, as measured
        ("cpu", 5.0, 0.9, False),  # too short a span to tell
        ("io", 655_360.0, 10.0, True),
        ("io", 296_000.0, 20.0, False),  # the same shell loop
    ],
)
def test_movement(source: str, after: float, span: float, moved: bool) -> None:
    assert tracked(source, 0.0, after, span) == (span if moved else 0.0)


def test_a_span_too_short_to_tell_keeps_its_first_sample() -> None:
    sources: procfs.Sources = {"cpu": (0.0, 0.0, 0.0)}
    procfs.update_sources(sources, {"cpu": 0.5}, 0.5)
    procfs.update_sources(sources, {"cpu": 0.5}, 1.0)
    assert sources["cpu"] == (0.5, 1.0, 1.0)


def test_a_source_that_appears_has_moved() -> None:
    sources: procfs.Sources = {}
    procfs.update_sources(sources, {"beat": 1.0}, 7.0)
    assert sources["beat"] == (1.0, 7.0, 7.0)


def test_less_than_before_is_no_movement_of_what_only_grows() -> None:
    assert tracked("cpu", 100.0, 3.0, 10.0) == 0.0


def test_all_children_are_seen_however_many() -> None:
    """The kernel gives a page at a time; a list of some thousand pids is longer."""
    script = """
import os, signal
for _ in range(1200):
    if os.fork() == 0:
        signal.pause()
print(flush=True)
signal.pause()
"""
    command = [sys.executable, "-I", "-S", "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as parent:
        try:
            assert parent.stdout
            assert parent.stdout.readline() == b"\n"
            assert len(set(procfs.children(parent.pid))) == 1200
        finally:
            os.killpg(parent.pid, signal.SIGKILL)
