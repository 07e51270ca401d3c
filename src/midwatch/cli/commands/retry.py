"""`midwatch retry`: run jobs again as they were."""

from midwatch.cli import context, output
from midwatch.cli.commands import run
from midwatch.cli.parser import Options
from midwatch.core.errors import RefusedError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.jobs import start


def main(options: Options) -> int:
    for fd in (0, 1, 2):
        run.ensure_open(fd)
    looker, code = context.job_observer(options), 0
    given = run.parse_variables(options.each("--env"))
    for name in context.job_names(options):
        facts = looker.facts(name)
        if not facts.exists:
            output.print_verdict(looker.verdict(name), json=options.flag("--json"))
            code = code or EXIT_CODES["not_found"]
            continue
        if facts.record is None:
            raise RefusedError(f"{name} has no record that could be read, so nobody knows what it ran")
        job = start.repeat_job(looker.directory, facts.record, given)
        code = code or run.start_detached(job, looker, json=options.flag("--json"))
    return code
