"""`midwatch _decide`: what the shim runs when a deadline has passed."""

from midwatch.cli import settings
from midwatch.cli.options import Options
from midwatch.loops.decide import decide


def main(options: Options) -> int:
    print(decide(settings.looker(options), settings.named(options)[0]))
    return 0
