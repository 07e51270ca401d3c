"""Reading a step's log: a model is asked, twice at most, and what it says is checked before it is believed."""

from __future__ import annotations

import os

from midwatch.config import load, trust
from midwatch.core.errors import FormatError, RefusedError, UsageError
from midwatch.stories import ask_model
from midwatch.stories.codec import model_answer
from midwatch.stories.model import NO_JSON, ParsedLog, ParseTrouble
from midwatch.stories.rules import log
from midwatch.system.atomic_files import KIND, REGULAR

COMMAND = "claude -p --model haiku"
VARIABLE = "MIDWATCH_PARSE_COMMAND"
LIMIT = 120.0
"""Seconds for one answer."""
TAIL = 1 << 20
"""Bytes of a log's end, in which its last lines are looked for."""


def parse_log(text: str, step: str, command: str, *, limit_s: float = LIMIT) -> ParsedLog:
    """What a model makes of a log. Whatever the model does, this returns; `trouble` says why it could not tell."""
    wrong = ""
    trouble: ParseTrouble | None = None
    for _ in range(2):
        answer = ask_model.ask_model(command, model_answer.format_question(step, text, wrong), limit_s)
        trouble = answer.trouble
        if trouble is None:
            try:
                return log.check_consistency(model_answer.parse_answer(answer.said, step))
            except FormatError as error:
                wrong, trouble = str(error), ParseTrouble(NO_JSON, str(error))
        elif not answer.again:
            break
    assert trouble is not None
    return log.unparsed_log(step, trouble)


def parse_by_rules(text: str, step: str) -> ParsedLog:
    """What our rules make of a log, without a model."""
    return log.parse_by_rules(text, step)


def find_model_command(project: str) -> str:
    """The command that asks the model. RefusedError when a project's file gives it that is not trusted."""
    if given := os.environ.get(VARIABLE, "").strip():
        if "\0" in given:
            raise UsageError(f"{VARIABLE} must hold no NUL")
        return given
    found = load.load(project).parse
    if found is None:
        return COMMAND
    if problem := trust.find_problem(found.source.rpartition(":")[0]):
        raise RefusedError(f"{problem} (its [parse] command would be run; {VARIABLE} stands in for it)")
    return found.words


def read_log_end(path: str) -> str:
    """The end of a log, in which its last lines are. RefusedError when there is nothing to read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            about = os.fstat(fd)
            if about.st_mode & KIND != REGULAR:
                raise RefusedError(f"{path} is no regular file; name the file that holds the step's output")
            text = os.pread(fd, TAIL, max(0, about.st_size - TAIL)).decode("utf-8", "replace")
        finally:
            os.close(fd)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise RefusedError(f"{path} cannot be read: {why}; name the file that holds the step's output") from None
    if not text.strip():
        raise RefusedError(f"{path} is empty; nothing can be told from it")
    return text
