"""A secret in a command line, a note, a variable or a reason: no face shows it, nobody is sent it."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, Box, until
from tests.integration.spawn.office import Office
from tests.lab.mosquitto import Listener, Mosquitto
from tests.unit.core.test_redaction import PLANTED, SHAPES

ONE_LINE = {shape: text for shape, text in SHAPES.items() if "\n" not in text}
FACES = (
    ("ls",), ("ls", "--json"), ("why", "job"), ("why", "job", "--json"), ("show", "job"), ("show", "job", "--json"),
    ("wait", "job"), ("wait", "job", "--json"), ("events",), ("events", "--json"), ("doctor",), ("notify",),
)  # fmt: skip


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    found = Mosquitto(tmp_path / "broker")
    found.start()
    yield found
    found.kill()


def shown(box: Box) -> dict[str, str]:
    found = {}
    for face in FACES:
        done = box(*face)
        found[" ".join(face)] = done.out + done.err
    code = "import midwatch; print(midwatch.status('job'), midwatch.wait('job'))"
    api = subprocess.run(
        [sys.executable, "-c", code], env=box.env, cwd=box.cwd, capture_output=True, text=True, timeout=PATIENCE,
        check=True,
    )  # fmt: skip
    return found | {"the Python API": api.stdout}


def journal(box: Box) -> str:
    with contextlib.closing(sqlite3.connect(box.path("journal.sqlite"))) as base:
        return "\n".join(body for (body,) in base.execute("select body from events"))


def test_no_face_shows_a_secret_of_a_job(box: Box) -> None:
    """All shapes at once in its command, its note, its variables, a note of its record and the reason of its end."""
    texts = [*ONE_LINE.values()]
    say = f"{sys.executable} -m midwatch beat --note"
    script = f'for text in "$@"; do {say} "$text"; done; exit 3'
    variables = [word for nth, text in enumerate(texts) for word in ("--env", f"V{nth}={text}")]
    box("run", "--name", "job", *variables, "--", "sh", "-c", script, "sh", *texts, "--password", PLANTED)
    for text in texts:
        record = box.record("job")
        record["notes"] = [text]
        record["end"]["reason"] = text
        box.path("job.json").write_text(json.dumps(record))
        said = {"schema": 1, "run": record["run"], "note": text, "progress": None}
        box.drop("job.beat").write_text(json.dumps(said))
        for face in (("why", "job"), ("show", "job", "--json")):
            assert PLANTED not in box(*face).out, (face, text)
    found = shown(box)
    assert {face for face, text in found.items() if "job" in text} >= {"ls", "why job", "show job", "wait job"}
    assert [face for face, text in found.items() if PLANTED in text] == []
    assert PLANTED not in journal(box)
    assert PLANTED in " ".join(box.record("job")["command"])  # the file itself is needed for a retry


def test_no_notice_and_no_message_holds_a_secret(office: Office, broker: Mosquitto) -> None:
    """What a verifier says goes into the reason, which is sent to everybody."""
    box, heard = office.box, office.cwd / "heard"
    config = Path(box.env["HOME"]) / ".config" / "midwatch"
    config.mkdir(parents=True)
    (office.cwd / ".git").mkdir()
    heard.touch()
    tell = f'["sh", "-c", "echo \\"$0\\" >> {heard}", "{{text}} {{reason}}"]'
    (config / "config.toml").write_text(f'[mqtt]\nurl = "{broker.url}"\n[notify]\ncommand = {tell}\n')
    (office.cwd / "said").write_text(f"curl --token {PLANTED} failed")
    office.spawned("job", "--verify", "cat said; false", prompt="say hello")
    listener = Listener(broker, "midwatch/#")
    try:
        ended = office.monitor("job").end()
        [line] = listener.until(1)
    finally:
        listener.close()
    until(lambda: "incomplete" in heard.read_text(), office.cwd)
    assert ended["state"] == "incomplete"
    for said in (line, heard.read_text(), ended["reason"]):
        assert "curl --token" in said
        assert PLANTED not in said
    files = [path for path in box.dir.rglob("*") if path.is_file() and path.suffix != ".log"]
    assert [path for path in files if PLANTED.encode() in path.read_bytes()] == []
    assert [face for face, text in shown(box).items() if PLANTED in text] == []


@pytest.mark.parametrize("text", ONE_LINE.values(), ids=ONE_LINE.keys())
def test_a_verifier_that_says_it_gives_nothing_away(box: Box, text: str) -> None:
    (box.cwd / "said").write_text(text)
    done = box("verify", "cat said; false", "--json")
    assert done.code != 0
    assert PLANTED not in done.out + done.err


def test_a_line_of_the_log_that_ends_a_wait_is_told_without_it(box: Box) -> None:
    box("run", "--name", "job", "--", "echo", f"ready: curl --token {PLANTED}")
    for face in (("wait", "job", "--match", "ready"), ("wait", "job", "--match", "ready", "--json")):
        said = box(*face).out
        assert "curl --token" in said
        assert PLANTED not in said


def test_an_event_that_an_earlier_release_kept_is_shown_without_it(box: Box) -> None:
    box("run", "--name", "job", "--", "true")
    box("events")
    with contextlib.closing(sqlite3.connect(box.path("journal.sqlite"))) as base, base:
        body = json.dumps({"reason": f"curl --token {PLANTED}"})
        base.execute("update events set body = ? where event = 'ended'", (body,))
    for face in (("events",), ("events", "--json"), ("show", "job")):
        said = box(*face).out
        assert "curl --token" in said
        assert PLANTED not in said
