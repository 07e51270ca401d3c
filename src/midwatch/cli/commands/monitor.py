"""`midwatch monitor`: one blocking call that says what becomes of a session, and does what it was told to about it."""

from __future__ import annotations

import os
import time

from midwatch.cli import context, output, pane_arguments
from midwatch.cli.commands.run import REFUSED
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core import names
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES, exit_code
from midwatch.core.names import is_pane
from midwatch.core.numbers import parse_whole_number
from midwatch.core.policy import Policy
from midwatch.core.verdict import Verdict
from midwatch.jobs.monitor_plan import CONTINUES
from midwatch.notifications.model import ChangeSubject
from midwatch.sessions import find_agent, monitor_job
from midwatch.sessions.model import FINAL, NO_DEADLINE, MonitorOptions
from midwatch.sessions.monitor import SessionMonitor
from midwatch.sessions.targets import ForeignPane, ManagedSession
from midwatch.shim import beat_file
from midwatch.verification import codec as verification_codec

MOST_RESUMES = 1000
SECOND = 1.0
UNFINISHED = (EXIT_CODES["abandoned"], EXIT_CODES["unknown"])
"""Exit codes of a watch that did not come to its end, also with --exit-zero."""
FORWARDED = (
    "--deadline", "--stale", "--grace", "--resume", "--verify", "--clock", "--on-limit", "--continues", "--until",
    "--cleanup", "-L", "-S", "--dir",
)  # fmt: skip
"""Options that a job which watches gets as they were given."""
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Say = Callable[[Verdict], None]


def main(options: Options) -> int:
    if len(options.names) != 1:
        raise UsageError("monitor needs one session: a NAME of ours, =session or %pane of tmux")
    target = options.names[0]

    def show(verdict: Verdict) -> None:
        output.print_verdict(verdict, json=options.flag("--json"))

    if options.flag("-d"):
        return _start_job(options, target)
    if options.flag("--exit-zero"):
        code = _monitor_target(options, target, _with_note(show, result=True), _with_note(_print_progress))
        return code if code in UNFINISHED else 0
    if not os.isatty(2):
        return _monitor_target(options, target, show, _print_progress)
    from midwatch.cli.terminal_status import open_status

    def go_on(verdict: Verdict) -> None:
        _print_progress(verdict)
        status.ongoing([verdict], 1)

    def end(verdict: Verdict) -> None:
        show(verdict)
        status.outcome(verdict, exit_code(verdict.state))
        status.finish()

    parse_options(options)  # what is wrong with them is said before the terminal is asked anything
    status = open_status()
    try:
        status.start(target)
        return _monitor_target(options, target, end, go_on)
    finally:
        status.close()


def _start_job(options: Options, target: str) -> int:
    """Have a job watch it. What cannot be watched is said here and now, where somebody reads it."""
    if options.flag("--task-dir"):
        raise UsageError("-d watches an agent; keep `monitor --task-dir` running with `midwatch run -d -- midwatch …`")
    subject = find_subject(options, target)
    if isinstance(subject, Verdict):
        output.print_verdict(subject, json=options.flag("--json"))
        return exit_code(subject.state)
    subject.close()
    looker = context.job_observer(options)
    try:
        job = monitor_job.start_monitor(
            looker, target, job_arguments(options), watched=watched_session(target),
            server=os.path.basename(options.text("-S") or options.text("-L") or ""),
        )  # fmt: skip
    except RefusedError as error:
        output.print_remark(str(error))
        return REFUSED
    print(output.as_json(looker.verdict(job)) if options.flag("--json") else job)
    return 0


def watched_session(target: str) -> str:
    """The session of ours that is meant; empty where it is an agent that others started."""
    return "" if is_pane(target) or target.startswith("=") else target


def job_arguments(options: Options) -> list[str]:
    """What a monitor in a job is given, of what was given here."""
    found: list[str] = []
    for flag, values in options.values.items():
        if flag not in FORWARDED:
            continue
        value = os.path.abspath(values[-1]) if flag in ("--dir", "-S") else values[-1]
        found += [flag] if flag == "--cleanup" else [flag, value]
    return found


def _monitor_target(options: Options, target: str, show: Say, tell: Say) -> int:
    if options.flag("--task-dir"):
        return _monitor_task(options, target, show, tell)
    subject = find_subject(options, target)
    if isinstance(subject, Verdict):
        show(subject)
        return exit_code(subject.state)
    return exit_code(SessionMonitor(subject, parse_options(options), tell).run(show).state)


def find_subject(options: Options, target: str) -> ManagedSession | ForeignPane | Verdict:
    """What is to be watched, or that there is none."""
    wanted, policy = parse_options(options), context.read_policy(options)
    directory = paths.sentinel_directory(options.text("--dir"))
    if is_pane(target) or target.startswith("="):
        if wanted.cleanup and is_pane(target):
            raise UsageError(f"{options.label('--cleanup')} closes a session; name it (=session) or a session of ours")
        found = _find_agent(options, target, policy)
        if isinstance(found, Verdict):
            return found
        return ForeignPane(found.panes, found.seen, target, directory)
    name = names.check_name(target)
    looker = context.job_observer(options)
    if (verdict := looker.verdict(name)).state == "not_found":
        hint = f"for a tmux session that Midwatch did not start, say `midwatch monitor ={name}`"
        return verdict._replace(kind="session", reason=f"{verdict.reason}; {hint}")
    return ManagedSession(looker, name, policy)


def parse_options(options: Options) -> MonitorOptions:
    resumes = parse_whole_number(given := options.text("--resume") or "0")
    if resumes is None or not 0 <= resumes <= MOST_RESUMES:
        raise UsageError(f"{options.label('--resume')} is a number from 0 to {MOST_RESUMES}, not {given!r}")
    if verify := options.text("--verify") or "":
        verification_codec.parse_check(verify)
    deadline = options.seconds("--deadline")
    if deadline is not None and deadline <= 0:
        raise UsageError(f"{options.label('--deadline')} must be above 0")
    continues = parse_whole_number(given := options.text("--continues") or str(CONTINUES))
    if continues is None or not 0 <= continues <= MOST_RESUMES:
        raise UsageError(f"{options.label('--continues')} is a number from 0 to {MOST_RESUMES}, not {given!r}")
    return MonitorOptions(
        NO_DEADLINE if deadline is None else deadline, resumes,
        on_limit=options.choice("--on-limit", ("report", "wait")) or "report", continues=continues,
        until=options.choice("--until", ("outcome", FINAL)) or "outcome", cleanup=options.flag("--cleanup"),
        verify=verify,
    )  # fmt: skip


def _find_agent(options: Options, target: str, policy: Policy) -> find_agent.FoundAgent | Verdict:
    """The one agent that is meant; absence counts when two looks a moment apart agree."""
    server = pane_arguments.server_arguments(options)
    for again in (True, False):
        try:
            return find_agent.find_agent(server, target, policy)
        except (find_agent.NoAgentError, find_agent.NoServerError) as error:
            reason = str(error)
        if again:
            time.sleep(SECOND)
    return Verdict(target, "session", "not_found", True, reason, "gone", "unknown", "not-found")


def _monitor_task(options: Options, session: str, show: Say, tell: Say) -> int:
    """A task directory of the three-layer monitor, by its own rules and numbers."""
    from midwatch.notifications import report_change
    from midwatch.taskdir import codec as codec_of_tasks
    from midwatch.taskdir import monitor

    if options.flag("--on-limit"):
        raise UsageError("--on-limit means nothing for a task directory")
    numbers = codec_of_tasks.parse_numbers(os.environ)
    deadline, grace, stale = (options.seconds(flag) for flag in ("--deadline", "--grace", "--stale"))
    numbers = numbers._replace(
        deadline_s=numbers.deadline_s if deadline is None else deadline,
        grace_s=numbers.grace_s if grace is None else grace,
        base_s=numbers.base_s if stale is None else stale / 3,
        retries=numbers.retries if options.text("--resume") is None else parse_options(options).resumes,
    )
    directory = os.path.abspath(options.text("--task-dir") or ".")
    name, path = options.text("-L"), options.text("-S")
    server = ("-S", path) if path else ("-L", name) if name else ()
    project = report_change.find_configured_project(paths.project_root(os.getcwd()))

    def report(verdict: Verdict, run: str, at: float) -> None:
        about = ChangeSubject(run, where=os.path.basename(directory))
        report_change.report_verdict(
            paths.sentinel_directory(options.text("--dir")), verdict, None, project=project, about=about, at=at,
            since=at if verdict.state == "abandoned" else None,
        )  # fmt: skip

    verdict = monitor.monitor_task(
        session.removeprefix("="), directory, server, numbers, wrapper=options.text("--wrapper") or "",
        cleanup=options.flag("--cleanup"), tell=tell, ended=report,
    )  # fmt: skip
    show(verdict)
    return exit_code(verdict.state)


def _with_note(say: Say, *, result: bool = False) -> Say:
    """The same, noted for the job that we run in, if it is one: `ls` shows the note, `wait` gives the result."""

    def noted(verdict: Verdict) -> None:
        say(verdict)
        try:
            box, name, run = beat_file.find_beat_target(None, None, None)
            note = f"{verdict.name}: {verdict.state}"
            beat_file.write_beat(f"{box}/{name}", run, note, None, output.as_json(verdict) if result else None)
        except (ValueError, LookupError, OSError):
            pass  # what is to be said was said

    return noted


def _print_progress(verdict: Verdict) -> None:
    """What does not end the watch goes to standard error, for whoever sits there."""
    output.print_verdict_remark(verdict)
