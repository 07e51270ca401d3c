"""What a verb works with: directory, names, policy, settings.

Flags beat the environment, which beats the project's file, which beats the user's, which beats our own numbers.
"""

from __future__ import annotations

import os

from midwatch.cli import output
from midwatch.cli.parser import Options
from midwatch.config import load as files
from midwatch.config import paths
from midwatch.config.model import PROGRAM_STATUS, MqttSettings, Settings
from midwatch.core import durations, names
from midwatch.core.errors import FormatError, UsageError
from midwatch.core.numbers import parse_whole_number
from midwatch.core.policy import CLOCKS, POLICIES, PROGRESS_SOURCES, Policy
from midwatch.integrations.mqtt import broker_settings
from midwatch.jobs.job_directory import JobDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

ACTIONS = ("report", "stop")
READING = ("wait", "why", "logs")
KEEPING = ("run", "adopt")
"""Verbs whose --timeout is the work's, not the caller's."""
LOOKING = (*READING, "ls", "stop", "report")
"""Verbs that must work although a settings file is broken: the night's work goes on while someone edits it."""
MOST = 1000


def job_observer(options: Options) -> JobDirectory:
    directory = paths.sentinel_directory(options.text("--dir"))
    if options.verb in READING and (others := paths.find_sharing(directory)):
        output.print_warning(f"{others}; what it says may be false")
    return JobDirectory(directory, lazy_policy(options))


def lazy_policy(options: Options) -> Callable[[], Policy]:
    """The policy for work that has none of its own, found out only when there is such work."""

    def found() -> Policy:
        try:
            return read_policy(options)
        except FormatError as error:
            if options.verb not in LOOKING:
                raise
            output.print_warning(f"{error}; until then the settings files do not count")
            return read_policy(options, Settings())

    return found


def job_names(options: Options) -> list[str]:
    if not options.names:
        raise UsageError(f"{options.verb} needs the name of a job; `midwatch ls` lists them")
    return [names.check_name(name, blanks=options.flag("--dir")) for name in dict.fromkeys(options.names)]


def read_policy(options: Options, given: Settings | None = None) -> Policy:
    """The policy that flags, else variables (MIDWATCH_STALE=…), else the settings files give.

    Whoever names a policy means that policy's own table: --policy or MIDWATCH_POLICY leaves nothing of the files'.
    """
    told = options.choice("--policy", tuple(POLICIES)) or _read_variable("MIDWATCH_POLICY", tuple(POLICIES))
    if given is None:
        given = Settings() if told else files.load(paths.project_root(paths.current_directory()))
    table = {"name": told} if told else given.policy
    base = POLICIES[str(table.get("name", "patient"))]._replace(**table)
    stale = _parse_seconds(options, "--stale", base.stale_s)
    pulse = _parse_seconds(options, "--heartbeat", None)
    if pulse is not None and pulse >= stale / 2:
        heartbeat, silence = options.label("--heartbeat"), options.label("--stale")
        raise UsageError(f"{heartbeat} {pulse:g}s must be below half of {silence} {stale:g}s")
    timeout = _parse_timeout(options, base.timeout_s)
    grace = _parse_seconds(options, "--grace", base.grace_s)
    if not stale or pulse == 0 or timeout == 0:
        heartbeat, silence = options.label("--heartbeat"), options.label("--stale")
        raise UsageError(f"{silence}, {heartbeat} and the timeout of the work must be above 0")
    fits = "heartbeat_s" in table and base.heartbeat_s < stale / 2
    return Policy(
        name=base.name,
        stale_s=stale,
        grace_s=grace or 0.0,
        timeout_s=timeout,
        heartbeat_s=pulse or (base.heartbeat_s if fits else min(base.heartbeat_s, stale / 3)),
        on_stuck=options.choice("--on-stuck", ACTIONS) or _read_variable("MIDWATCH_ON_STUCK", ACTIONS) or base.on_stuck,
        progress=_parse_progress(options, base),
        clock=options.choice("--clock", CLOCKS) or base.clock,
    )


def read_settings(options: Options) -> Settings:  # noqa: ARG001  # as all here take them
    """The settings files with the environment on top; flags are for the verb that has them."""
    found = files.load(paths.project_root(paths.current_directory()))
    retries, backoff = _read_count("MIDWATCH_RETRIES", 0), _read_duration("MIDWATCH_BACKOFF")
    threshold, cooldown = _read_count("MIDWATCH_BREAKER_THRESHOLD", 1), _read_duration("MIDWATCH_BREAKER_COOLDOWN")
    preflight = _read_variable("MIDWATCH_PREFLIGHT", ("0", "1"))
    program_status = _read_variable("MIDWATCH_PROGRAM_STATUS", PROGRAM_STATUS)
    return found._replace(
        retries=found.retries if retries is None else retries,
        backoff_s=found.backoff_s if backoff is None else backoff,
        breaker_threshold=found.breaker_threshold if threshold is None else threshold,
        breaker_cooldown_s=found.breaker_cooldown_s if cooldown is None else cooldown,
        preflight=found.preflight if preflight is None else preflight == "1",
        mqtt=_read_broker(found.mqtt),
        program_status=program_status or found.program_status,
    )


def program_status_mode() -> str:
    """Whether a call reports to its own terminal. A broken file ends no call for that: nothing is reported."""
    if told := _read_variable("MIDWATCH_PROGRAM_STATUS", PROGRAM_STATUS):
        return told
    try:
        return files.load(paths.project_root(os.getcwd())).program_status
    except FormatError as error:
        output.print_warning(f"{error}; until then nothing is reported to this terminal")
    except FileNotFoundError:  # our directory was removed; whose project this is cannot be told
        pass
    return "off"


def _read_broker(found: MqttSettings | None) -> MqttSettings | None:
    try:
        return broker_settings.with_environment(found)
    except FormatError as error:
        raise UsageError(str(error)) from None


def _read_variable(name: str, among: tuple[str, ...]) -> str | None:
    given = os.environ.get(name) or None
    if given is not None and given not in among:
        raise UsageError(f"{name} is one of {', '.join(among)}, not {given!r}")
    return given


def _read_duration(name: str) -> float | None:
    if not (given := os.environ.get(name)):
        return None
    try:
        return durations.parse(given)
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from None


def _read_count(name: str, least: int) -> int | None:
    if not (given := os.environ.get(name)):
        return None
    count = parse_whole_number(given)
    if count is None or not least <= count <= MOST:
        raise UsageError(f"{name} is a number from {least} to {MOST}, not {given!r}")
    return count


def _parse_seconds(options: Options, flag: str, default: float | None) -> float:
    given = options.seconds(flag)
    if given is None:
        given = _read_duration("MIDWATCH_" + flag.lstrip("-").upper().replace("-", "_"))
    return default if given is None else given  # type: ignore[return-value]


def _parse_timeout(options: Options, default: float | None) -> float | None:
    """The work's. `wait` has another word for it, as its --timeout is the caller's."""
    if options.verb in KEEPING:
        return _parse_seconds(options, "--timeout", default)
    if options.verb != "wait" or not options.flag("--policy"):
        return default
    given = options.seconds("--work-timeout")
    given = _read_duration("MIDWATCH_TIMEOUT") if given is None else given
    return default if given is None else given


def _parse_progress(options: Options, base: Policy) -> tuple[str, ...]:
    whose, given = options.label("--progress"), options.text("--progress")
    if given is None:
        whose, given = "MIDWATCH_PROGRESS", os.environ.get("MIDWATCH_PROGRESS") or None
    if given is None:
        return base.progress
    wanted = [source.strip() for source in given.split(",") if source.strip()]
    if not wanted or (odd := [source for source in wanted if source not in PROGRESS_SOURCES]):
        raise UsageError(f"{whose} takes {', '.join(PROGRESS_SOURCES)}, not {given if not wanted else odd[0]!r}")
    return tuple(source for source in PROGRESS_SOURCES if source in wanted)
