"""`dogwatch stop`: end jobs with everything below them."""

import sys

from dogwatch.cli import say, settings
from dogwatch.cli.options import Options
from dogwatch.judge.consequences import EXIT_CODES
from dogwatch.loops.stop import stop
from dogwatch.model.errors import RefusedError


def main(options: Options) -> int:
    """0 when every job named has ended, whoever ended it; 7 when one is not there, 12 when one could not be ended."""
    looker, code = settings.looker(options), 0
    for name in settings.named(options):
        try:
            verdict = stop(looker, name)
        except RefusedError as error:  # the others are to be stopped all the same
            print(f"dogwatch: {error}", file=sys.stderr)
            code = code or EXIT_CODES["unknown"]
            continue
        say.show(verdict, json=options.flag("--json"))
        if verdict.state == "not_found":
            code = code or EXIT_CODES["not_found"]
    return code
