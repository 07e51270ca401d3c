"""What a shim does when somebody is to be told, and when nobody can be."""

from __future__ import annotations

import json
import os
from pathlib import Path

from midwatch.shim.announce import ParentChannel
from midwatch.shim.run_files import RunFiles


def voice(tmp_path: Path, teller: list[str] | None) -> tuple[ParentChannel, Path]:
    (tmp_path / "spool").mkdir()
    notes = RunFiles(str(tmp_path), {"run": "r1", "name": "x", "breaker": None})
    return ParentChannel(notes, -1, teller), tmp_path / "spool" / "x.r1.jsonl"


def test_that_nobody_could_be_told_is_an_event_and_nothing_else(tmp_path: Path) -> None:
    said, spool = voice(tmp_path, [str(tmp_path / "nothing")])
    said.notify()
    assert said.tellers == set()
    [line] = map(json.loads, spool.read_text().splitlines())
    assert (line["event"], line["reason"]) == ("undelivered", "nobody could be told: No such file or directory")


def test_where_nobody_is_to_be_told_nothing_is_started(tmp_path: Path) -> None:
    said, spool = voice(tmp_path, None)
    said.notify()
    assert (said.tellers, spool.exists()) == (set(), False)


def test_those_who_tell_are_known_until_they_have_ended(tmp_path: Path) -> None:
    said, _ = voice(tmp_path, ["/bin/true"])
    said.notify()
    [pid] = said.tellers
    assert os.waitpid(pid, 0) == (pid, 0)
