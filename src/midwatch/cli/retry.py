"""`midwatch retry`: run jobs again as they were."""

from midwatch.cli import run, say, settings
from midwatch.cli.options import Options
from midwatch.judge.consequences import EXIT_CODES
from midwatch.loops import start
from midwatch.model.errors import RefusedError


def main(options: Options) -> int:
    for fd in (0, 1, 2):
        run.ensure_open(fd)
    looker, code = settings.looker(options), 0
    given = run.variables(options.each("--env"))
    for name in settings.named(options):
        facts = looker.facts(name)
        if not facts.exists:
            say.show(looker.verdict(name), json=options.flag("--json"))
            code = code or EXIT_CODES["not_found"]
            continue
        if facts.record is None:
            raise RefusedError(f"{name} has no record that could be read, so nobody knows what it ran")
        job = start.again(looker.directory, facts.record, given)
        code = code or run.detached(job, looker, json=options.flag("--json"))
    return code
