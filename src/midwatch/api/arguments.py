"""What the functions of the API are given, checked as the command line is, and with errors in the API's own words."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Mapping
from datetime import timedelta

from midwatch.cli import context
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.config.model import Settings
from midwatch.core.errors import FormatError, UsageError
from midwatch.core.policy import Policy
from midwatch.core.verdict import Verdict
from midwatch.jobs import start_sender
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.wait_model import UNTIL, WaitOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, Protocol

    from midwatch.core.states import VerdictState

    class Named(Protocol):
        """A job that was started, such as `with midwatch.job(…) as job` gives."""

        @property
        def name(self) -> str: ...

    Duration = float | str | timedelta
    """Seconds, a text such as "90s" or "15m", or a timedelta."""
    Job = str | Named
    """Its name, or a verdict on it: ``wait(run(["make"]))``."""
    Path = str | os.PathLike[str]
    PolicyName = Literal["patient", "strict"]
    StuckAction = Literal["report", "stop"]
    ProgressName = Literal["output", "cpu", "io", "beat", "heartbeat"]
    Until = VerdictState | Literal["final", "exited"]

WARNED_AT = 4
"""Frames between a warning and the line that called us."""

start_sender.in_guest = True


class KeywordOptions(Options):
    """Keyword arguments as the command line would have them."""

    def __init__(self, verb: str, **given: object) -> None:
        super().__init__(verb)
        for name, value in given.items():
            if value is not None and value is not False:
                self.values[f"--{name.replace('_', '-')}"] = [_option_text(value)]

    def label(self, flag: str) -> str:
        return flag.lstrip("-").replace("-", "_")


def _option_text(value: object) -> str:
    if value is True:
        return ""
    if isinstance(value, timedelta):
        return str(value.total_seconds())
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def job_name(job: Job) -> str:
    name = job if isinstance(job, str) else getattr(job, "name", None)
    if not isinstance(name, str):
        raise UsageError(f"a job is named by a text, or by a verdict on it, not by {job!r:.100}")
    return name


def wait_request(
    jobs: Iterable[Job],
    directory: Path | None,
    timeout: Duration | None,
    until: str | None,
    start: Duration | None,
    match: str | re.Pattern[str] | None,
) -> tuple[JobDirectory, list[str], WaitOptions]:
    """What a wait works with."""
    options = KeywordOptions("wait", dir=directory, timeout=timeout, until=until, start=start)
    options.names = job_names(jobs)
    context.job_names(options)
    try:
        pattern = re.compile(match) if isinstance(match, str) else match
    except re.error as error:
        raise UsageError(f"match {match!r} is not a regular expression: {error}") from None
    wanted = WaitOptions(
        until=options.choice("--until", UNTIL),
        match=pattern,
        start_s=options.seconds("--start") or 0.0,
        timeout_s=options.seconds("--timeout"),
    )
    return open_directory("wait", directory), options.names, wanted


def job_names(jobs: Iterable[Job]) -> list[str]:
    """The names of several jobs."""
    if isinstance(jobs, str | Verdict) or hasattr(jobs, "name"):
        raise UsageError(f"jobs are named by a list such as ['lint', 'test'], not {jobs!r:.100}")
    return [job_name(job) for job in jobs]


def open_directory(verb: str, directory: Path | None) -> JobDirectory:
    """The jobs of a project, or of another directory. Its doubts are warnings."""
    options = KeywordOptions(verb, dir=directory)
    path = paths.sentinel_directory(options.text("--dir"))
    if others := paths.find_sharing(path):
        warnings.warn(f"{others}; what it says may be false", RuntimeWarning, WARNED_AT)
    return JobDirectory(path, _lazy_policy(options))


def _lazy_policy(options: Options) -> Callable[[], Policy]:
    def policy() -> Policy:
        """For work without one of its own. Whoever only looks is not stopped by a settings file that is broken."""
        try:
            return context.read_policy(options)
        except FormatError as error:
            warnings.warn(f"{error}; until then the settings files do not count", RuntimeWarning, WARNED_AT)
            return context.read_policy(options, Settings())

    return policy


def warn(trouble: str) -> None:
    warnings.warn(trouble, RuntimeWarning, WARNED_AT)


def work_directory(given: Path | None) -> str:
    path = os.path.abspath(plain_word(given or "."))
    if not os.path.isdir(path):
        raise UsageError(f"cwd: there is no directory {path}")
    return path


def work_variables(given: Mapping[str, str]) -> dict[str, str]:
    if odd := [key for key in given if not key or "=" in key]:
        raise UsageError(f"env: {odd[0]!r} is no name of a variable")
    return {plain_word(key): plain_word(value) for key, value in given.items()}


def plain_word(given: Path) -> str:
    """Text that can be given to a program: no command line could hold the rest."""
    try:
        text = os.fspath(given)
        if "\0" not in text:
            os.fsencode(text)
            return text
    except (TypeError, UnicodeEncodeError):
        pass
    raise UsageError(f"{given!r:.100} cannot be given to a program")
