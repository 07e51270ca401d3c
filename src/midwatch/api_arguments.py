"""Arguments of the Python API, checked as the command line checks its own: names, directories, texts, durations."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping

from midwatch.cli import context
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.config.model import Settings
from midwatch.core.errors import FormatError, UsageError
from midwatch.core.policy import Policy
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    Job = str | Verdict
    """Its name, or a verdict on it: ``wait(run(["make"]))``."""
    Path = str | os.PathLike[str]

WARNED_AT = 4
"""Frames between a warning and the line that called us."""


def build_options(verb: str, **given: object) -> Options:
    """Keyword arguments as the command line would have them."""
    options = Options(verb)
    for name, value in given.items():
        if value is not None and value is not False:
            text = os.fspath(value) if isinstance(value, os.PathLike) else "" if value is True else str(value)
            options.values[f"--{name.replace('_', '-')}"] = [text]
    return options


def job_name(job: Job) -> str:
    return job.name if isinstance(job, Verdict) else job


def open_directory(verb: str, directory: Path | None) -> JobDirectory:
    options = build_options(verb, dir=directory)
    path = paths.sentinel_directory(options.text("--dir"))
    if others := paths.find_sharing(path):
        warnings.warn(f"{others}; what it says may be false", RuntimeWarning, WARNED_AT)

    def policy() -> Policy:
        """For work without one of its own. Whoever only looks is not stopped by a settings file that is broken."""
        try:
            return context.read_policy(options)
        except FormatError as error:
            warnings.warn(f"{error}; until then the settings files do not count", RuntimeWarning, WARNED_AT)
            return context.read_policy(options, Settings())

    return JobDirectory(path, policy)


def give_warning(trouble: str) -> None:
    warnings.warn(trouble, RuntimeWarning, WARNED_AT)


def check_directory(given: Path | None) -> str:
    path = os.path.abspath(check_text(given or "."))
    if not os.path.isdir(path):
        raise UsageError(f"cwd: there is no directory {path}")
    return path


def check_variables(given: Mapping[str, str]) -> dict[str, str]:
    if odd := [key for key in given if not key or "=" in key]:
        raise UsageError(f"env: {odd[0]!r} is no name of a variable")
    return {check_text(key): check_text(value) for key, value in given.items()}


def check_text(given: Path) -> str:
    """Text that can be given to a program: no command line could hold the rest."""
    try:
        text = os.fspath(given)
        if "\0" not in text:
            os.fsencode(text)
            return text
    except (TypeError, UnicodeEncodeError):
        pass
    raise UsageError(f"{given!r:.100} cannot be given to a program")
