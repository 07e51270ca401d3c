"""`midwatch _decide`: what the shim runs when a deadline has passed."""

from midwatch.cli import context
from midwatch.cli.parser import Options
from midwatch.subjects.decide import instruct_shim


def main(options: Options) -> int:
    print(instruct_shim(context.job_observer(options), context.job_names(options)[0]))
    return 0
