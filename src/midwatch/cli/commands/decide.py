"""`midwatch _decide`: what the shim runs when a deadline has passed."""

from midwatch.cli import context
from midwatch.cli.parser import Options
from midwatch.subjects.decide import decide


def main(options: Options) -> int:
    print(decide(context.looker(options), context.named(options)[0]))
    return 0
