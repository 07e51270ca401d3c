"""`dogwatch _decide`: what the shim runs when a deadline has passed."""

from dogwatch.cli import settings
from dogwatch.cli.options import Options
from dogwatch.loops.decide import decide


def main(options: Options) -> int:
    print(decide(settings.looker(options), settings.named(options)[0]))
    return 0
