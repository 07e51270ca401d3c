"""`dogwatch stop`: end jobs with everything below them."""

from dogwatch.cli import say, settings
from dogwatch.cli.options import Options
from dogwatch.judge.consequences import EXIT_CODES
from dogwatch.loops.stop import stop


def main(options: Options) -> int:
    """0 when every job named has ended, whoever ended it; 7 when one is not there."""
    looker, code = settings.looker(options), 0
    for name in settings.named(options):
        verdict = stop(looker, name)
        say.show(verdict, json=options.flag("--json"))
        if verdict.state == "not_found":
            code = code or EXIT_CODES["not_found"]
    return code
