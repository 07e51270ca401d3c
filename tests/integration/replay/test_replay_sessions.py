"""`midwatch replay` of what `midwatch record` wrote of a pane."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Box
from tests.integration.panes.agent import show
from tests.integration.panes.private import Private

GOLDENS = Path(__file__).parents[2] / "goldens" / "agents" / "timelines"
SOME = sorted(path for agent in ("claude", "codex", "gemini", "opencode", "qwen") for path in
              sorted(GOLDENS.glob(f"{agent}-*.jsonl"))[:2])  # fmt: skip


@pytest.fixture
def private(tmp_path: Path) -> Iterator[Private]:
    found = Private(tmp_path / "s")
    yield found
    found.end()


@pytest.fixture
def recording(box: Box, private: Private, tmp_path: Path) -> Path:
    """An agent that asks for a permission, looked at for a while."""
    pane = show(private, tmp_path, "claude", "permission-bash")
    out = tmp_path / "t.jsonl"
    assert box("record", pane, *private.server, "-o", str(out), "--every", "0.1s", "--for", "0.5s").code == 0
    return out


def test_what_was_given_is_said_again(box: Box, recording: Path) -> None:
    header, first, *rest = map(json.loads, recording.read_text().splitlines())
    assert header["policy"]["stale_s"] == 600.0
    assert first["given"] == {
        "state": "waiting", "turn": "waiting", "detail": "permission", "reason": "it waits for a permission",
    }  # fmt: skip
    assert not any("given" in look for look in rest)
    done = box("replay", str(recording))
    assert done.out.splitlines() == [
        "claude:", "       0s  =  waiting (permission): it waits for a permission", "1 verdict, all as they were given",
    ]  # fmt: skip
    assert done.code == 0


@pytest.mark.parametrize(
    ("was", "forged"), [('"turn":"waiting"', '"turn":"idle"'), ("it waits for a permission", "it waits")]
)
def test_a_verdict_that_is_another_now_gives_the_exit_code(box: Box, recording: Path, was: str, forged: str) -> None:
    recording.write_text(recording.read_text().replace(was, forged))
    done = box("replay", str(recording), "--json")
    assert done.code == 1
    row = json.loads(done.out)
    assert (row["now"]["turn"], row["now"]["reason"]) == ("waiting", "it waits for a permission")
    assert row["same"] is False
    assert box("replay", str(recording), "--stale", "5m").code == 0


def test_without_what_was_given_the_verdicts_are_shown(box: Box, recording: Path) -> None:
    lines = [json.loads(line) for line in recording.read_text().splitlines()]
    for line in lines:
        line.pop("given", None)
    recording.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = box("replay", str(recording))
    assert done.code == 0
    assert done.out.splitlines()[1:] == [
        "       0s     waiting (permission): it waits for a permission",
        "1 verdict; there is nothing to compare them with",
    ]


def test_a_recording_that_was_cut_off_is_replayed_so_far(box: Box, recording: Path) -> None:
    recording.write_text(recording.read_text()[:-7])
    done = box("replay", str(recording))
    assert done.code == 0
    assert "the last line is cut off; it is passed over" in done.err


@pytest.mark.parametrize("spoiled", ['{"at":2,"wall":3,"rows":{"0":5}}', '{"at":2,"wall":3,"height":1e12}', "[]", "{"])
def test_a_bad_line_is_told_with_its_number(box: Box, recording: Path, spoiled: str) -> None:
    lines = recording.read_text().splitlines()
    recording.write_text("\n".join([*lines[:3], spoiled, *lines[3:]]) + "\n")
    done = box("replay", str(recording))
    assert done.code == 12
    assert f"{recording}:4: not a line of a timeline" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("path", SOME, ids=lambda path: path.stem)
def test_goldens_are_held_against_what_was_true(box: Box, path: Path) -> None:
    done = box("replay", str(path))
    assert done.code == 0, done
    assert "≠" not in done.out


def test_what_was_never_true_is_told(box: Box, tmp_path: Path) -> None:
    text = next(GOLDENS.glob("claude-permission*.jsonl")).read_text()
    (tmp_path / "f.jsonl").write_text(text.replace('"truth":"idle"', '"truth":"working"'))
    done = box("replay", "f.jsonl")
    assert done.code == 1
    assert "≠  idle (turn-ended): its turn has ended (in truth working)" in done.out


def test_a_recording_of_an_agent_that_nobody_knows_is_no_evidence(box: Box) -> None:
    (box.cwd / "f.jsonl").write_text(SOME[0].read_text().replace('"agent":"claude"', '"agent":"nobody"'))
    done = box("replay", "f.jsonl")
    assert done.code == 12
    assert "f.jsonl:1: no agent is called 'nobody'" in done.err


def test_options_of_jobs_mean_nothing_to_a_session(box: Box) -> None:
    for option in (("--timeout", "5m"), ("--on-stuck", "stop"), ("--progress", "output")):
        done = box("replay", str(SOME[0]), *option)
        assert done.code == 2
        assert f"for which {option[0]} means nothing" in done.err
    assert box("replay", str(SOME[0]), "--policy", "strict").code == 0
