"""`midwatch parse`: what the log of a step says, and what to do next."""

from __future__ import annotations

import os

from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core.errors import UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.json_text import dump
from midwatch.stories import parse
from midwatch.stories.codec.model_answer import STEPS
from midwatch.stories.model import ParsedLog
from midwatch.system.end_signals import ExitSignals

SCHEMA = 1


def main(options: Options) -> int:
    step = options.choice("--step", STEPS)
    if len(options.names) != 1 or step is None:
        raise UsageError(f"parse needs one file, and whose log it is: --step {'|'.join(STEPS)}")
    text = parse.read_log_end(options.names[0])
    if options.flag("--rules"):
        found = parse.parse_by_rules(text, step)
    else:
        command = parse.find_model_command(paths.project_root(os.getcwd()))
        with ExitSignals():
            found = parse.parse_log(text, step, command)
    print(as_json(found))
    return EXIT_CODES["incomplete"] if found.trouble else 0


def as_json(found: ParsedLog) -> str:
    told = {
        "schema": SCHEMA, "step": found.step, "status": found.status, "summary": found.summary,
        "next_action": found.next_action, **found.fields, "by": found.by,
    }  # fmt: skip
    if found.trouble:
        told["trouble"] = found.trouble.words
    return dump(told)
