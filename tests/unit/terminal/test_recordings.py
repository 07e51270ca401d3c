"""What real agents printed (`tests/lab/casts.py` has recorded it), and what is left of it to read.

Beside each recording stands what is written of it. `MIDWATCH_GOLDENS=write` writes that anew, to be read by a person.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from midwatch.terminal.transcript import ScreenTranscript
from tests.lab import casts

HERE = Path(__file__).parents[2] / "goldens" / "terminal"
RECORDINGS = sorted(HERE.glob("*.cast"))
QUESTIONS = {
    "claude-2.1.325": ("Do you want to proceed?", "3. Yes, and switch to auto mode", "I will run a command."),
    "codex-0.166.0": ("Would you like to run the following command?", "Yes, proceed (y)", "I will run a command."),
    "opencode-1.18.33": ("△ Permission required", "Allow once", "I will run a command."),
}
ANSWERS = {
    "claude-2.1.325": [f"Finding {number}: the answer has words enough to fill" for number in range(1, 21)],
    "codex-0.166.0": [f"Finding {number}: the answer has words enough to fill" for number in range(1, 21)],
    "opencode-1.18.33": ["The file was made.", "Words that come slowly, one after the other, to the end."],
}


def written(cast: casts.Cast, *, after: int = 1) -> str:
    """What comes of it, the pieces as they came or cut up further."""
    parts: list[str] = []
    transcript = ScreenTranscript(cast.columns, cast.rows, parts.append)
    for at, piece in cast.pieces:
        while (due := transcript.due()) is not None and due <= at:
            transcript.observe(due)
        for start in range(0, len(piece), len(piece) // after or 1):
            transcript.feed(piece[start : start + (len(piece) // after or 1)], at)
    while (due := transcript.due()) is not None:
        transcript.observe(due)
    transcript.finish()
    return "".join(parts)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recording_reads_as_a_person_read_the_screen(path: Path) -> None:
    text = written(casts.read(path))
    golden = path.with_suffix(".txt")
    if os.environ.get("MIDWATCH_GOLDENS") == "write":
        golden.write_text(text)
    assert text == golden.read_text()


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_questions_and_answers_stand_there_once_with_their_blanks(path: Path) -> None:
    lines = written(casts.read(path)).splitlines()
    for words in (*QUESTIONS[path.stem], *ANSWERS[path.stem]):
        assert len([line for line in lines if words in line and "[[" not in line]) == 1, words


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_it_does_not_matter_how_a_recording_is_cut_up(path: Path) -> None:
    cast = casts.read(path)
    assert written(cast, after=7) == written(cast)
