"""`midwatch verify`: whether the work is there, asked once."""

from __future__ import annotations

import os
import time

from midwatch.cli import context
from midwatch.cli.parser import Options
from midwatch.core import names
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.json_text import dump
from midwatch.sessions.verify import find_start_time
from midwatch.verification import checks
from midwatch.verification import codec as verification_codec

SCHEMA = 1


def main(options: Options) -> int:
    if len(options.names) != 1:
        raise UsageError("verify needs one thing to ask, in quotes: midwatch verify 'make test'")
    check = verification_codec.parse_check(options.names[0])
    cwd, since = _find_work(options)
    found = checks.run_check(check, cwd, since)
    if options.flag("--json"):
        told = {
            "schema": SCHEMA,
            "verify": verification_codec.format_check(check),
            "verified": found.done,
            "reason": found.reason,
        }
        print(dump(told))
    else:
        print(f"{'verified' if found.done else 'not verified'}: {found.reason}")
    return 0 if found.done else EXIT_CODES["incomplete"]


def _find_work(options: Options) -> tuple[str, float | None]:
    """Where the work is, and when it began: as a job's record tells, or as was said."""
    cwd, since, name = options.text("--cwd"), options.seconds("--since"), options.text("--name")
    if name is None:
        return os.path.abspath(cwd or "."), None if since is None else time.time() - since
    if since is not None:
        raise UsageError("--name and --since both say when the work began; give one")
    record = context.job_observer(options).facts(names.check_name(name)).record
    if record is None:
        raise RefusedError(f"there is no job {name} here; `midwatch ls` lists them")
    return cwd or record.cwd, find_start_time(record)
