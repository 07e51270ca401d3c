"""`midwatch adopt`: watch work that somebody else started as if it were ours."""

import os

from midwatch.cli import context, output
from midwatch.cli.commands.run import ensure_open
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core import names
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.numbers import parse_whole_number
from midwatch.core.policy import Policy
from midwatch.jobs.codec.sentinel import LARGEST_PID
from midwatch.jobs.job_directory import JobDirectory
from midwatch.subjects import adopt
from midwatch.subjects.adopt import AdoptedJob


def main(options: Options) -> int:
    for fd in (0, 1, 2):
        ensure_open(fd)
    pid, directory = _parse_pid(options), options.text("--dir")
    if options.names and options.names[0].startswith("%"):
        return _adopt_pane(options)
    if (pid is None) == (directory is None):
        raise UsageError("what is to be adopted? --pid P, %PANE for an agent in tmux, or --dir D for steps")
    looker, may_stop = JobDirectory(paths.sentinel_directory(), _adoption_policy(options)), options.flag("--stop")
    if pid is not None:
        if options.names:
            raise UsageError(f"--pid takes no names of steps; to call it {options.names[0]}, say --name")
        _show(adopt.adopt_process(looker, pid, options.text("--name"), may_stop=may_stop), looker, options)
        return 0
    return _adopt_steps(options, looker, os.path.realpath(str(directory)), may_stop=may_stop)


def _adopt_pane(options: Options) -> int:
    from midwatch.cli import pane_arguments  # a process does not pay for tmux and detectors
    from midwatch.sessions import find_agent  # a process does not pay for tmux and detectors

    if len(options.names) > 1 or options.flag("--pid") or options.flag("--dir"):
        raise UsageError("a pane is adopted alone: midwatch adopt %3 --name api")
    looker, target = JobDirectory(paths.sentinel_directory(), _adoption_policy(options)), options.names[0]
    found = find_agent.find_agent(pane_arguments.server_arguments(options), target)
    try:
        name, may_stop = options.text("--name"), options.flag("--stop")
        _show(adopt.adopt_session(looker, found, name, may_stop=may_stop), looker, options)
    finally:
        found.close()
    return 0


def _adopt_steps(options: Options, looker: JobDirectory, directory: str, *, may_stop: bool) -> int:
    if others := paths.find_sharing(directory):
        output.print_warning(f"{others}; what it says may be false, nothing there is signalled")
    named = [names.check_name(step, blanks=True) for step in dict.fromkeys(options.names)]
    steps = named or adopt.find_unfinished_steps(directory, looker.policy)
    if not steps:
        raise RefusedError(f"nothing is at work in {directory}; `midwatch ls --dir {directory}` lists what was")
    if options.text("--name") is not None and len(steps) > 1:
        raise UsageError(f"--name names one step, but there are {len(steps)}: {', '.join(steps[:3])} …")
    code = 0
    for step in steps:
        try:
            kept = adopt.adopt_step(looker, directory, step, options.text("--name"), may_stop=may_stop)
        except RefusedError as error:  # the others are to be adopted all the same
            output.print_remark(str(error))
            code = EXIT_CODES["unknown"]
            continue
        _show(kept, looker, options)
    return code


def _show(kept: AdoptedJob, looker: JobDirectory, options: Options) -> None:
    for note in kept.notes:
        output.print_remark(f"{kept.name}: {note}")
    print(output.as_json(looker.verdict(kept.name)) if options.flag("--json") else kept.name, flush=True)


def _parse_pid(options: Options) -> int | None:
    given = options.each("--pid")
    if len(given) > 1:
        raise UsageError("--pid takes one process; call `adopt` once for each")
    if not given:
        return None
    word = given[0]
    pid = parse_whole_number(word)
    if pid is None or not 0 < pid < LARGEST_PID:
        raise UsageError(f"--pid is the number of a process, not {word!r}")
    return pid


def _adoption_policy(options: Options) -> Policy:
    """As for `run`; but what a policy would end is left alone unless --stop was said."""
    found = context.read_policy(options)
    if options.flag("--stop"):
        return found
    if options.text("--on-stuck") == "stop":
        raise UsageError("--on-stuck stop ends work that somebody else started; add --stop if that is meant")
    return found._replace(on_stuck="report")
