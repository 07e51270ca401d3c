"""What a verb works with: directory, names, policy. Flags beat the environment."""

import os
import sys

from dogwatch.cli.options import Options
from dogwatch.formats import durations, names
from dogwatch.loops.look import Looker
from dogwatch.model.errors import UsageError
from dogwatch.model.policy import POLICIES, PROGRESS_SOURCES, Policy
from dogwatch.store import places

ACTIONS = ("report", "stop")
READING = ("wait", "why", "logs")


def looker(options: Options) -> Looker:
    directory = places.directory(options.text("--dir"))
    if options.verb in READING and (others := places.shared_with_others(directory)):
        print(f"dogwatch: warning: {others}; what it says may be false", file=sys.stderr)
    return Looker(directory, policy(options))


def named(options: Options) -> list[str]:
    if not options.names:
        raise UsageError(f"{options.verb} needs the name of a job; `dogwatch ls` lists them")
    return [names.check(name) for name in dict.fromkeys(options.names)]


def policy(options: Options) -> Policy:
    """The policy that flags, else variables (DOGWATCH_STALE=…), else its name (DOGWATCH_POLICY) give."""
    given = options.choice("--policy", tuple(POLICIES)) or os.environ.get("DOGWATCH_POLICY") or "patient"
    if given not in POLICIES:
        raise UsageError(f"DOGWATCH_POLICY is one of {', '.join(POLICIES)}, not {given!r}")
    base = POLICIES[given]
    stale = _seconds(options, "--stale", base.stale_s)
    pulse = _seconds(options, "--heartbeat", None)
    if pulse is not None and pulse >= stale / 2:
        raise UsageError(f"--heartbeat {pulse:g}s must be below half of --stale {stale:g}s")
    timeout = _seconds(options, "--timeout", base.timeout_s) if options.verb == "run" else base.timeout_s
    grace = _seconds(options, "--grace", base.grace_s)
    if not stale or pulse == 0 or timeout == 0:
        raise UsageError("--stale, --heartbeat and --timeout must be above 0")
    on_stuck = options.choice("--on-stuck", ACTIONS) or os.environ.get("DOGWATCH_ON_STUCK") or base.on_stuck
    if on_stuck not in ACTIONS:
        raise UsageError(f"DOGWATCH_ON_STUCK is one of {', '.join(ACTIONS)}, not {on_stuck!r}")
    return Policy(
        name=base.name,
        stale_s=stale,
        grace_s=grace or 0.0,
        timeout_s=timeout,
        heartbeat_s=pulse or min(base.heartbeat_s, stale / 3),
        on_stuck=on_stuck,
        progress=_progress(options, base),
    )


def _seconds(options: Options, flag: str, default: float | None) -> float:
    given = options.seconds(flag)
    if given is None and (variable := os.environ.get("DOGWATCH_" + flag.lstrip("-").upper().replace("-", "_"))):
        given = durations.parse(variable)
    return default if given is None else given  # type: ignore[return-value]


def _progress(options: Options, base: Policy) -> tuple[str, ...]:
    given = options.text("--progress") or os.environ.get("DOGWATCH_PROGRESS")
    if given is None:
        return base.progress
    wanted = [source.strip() for source in given.split(",") if source.strip()]
    if not wanted or (odd := [source for source in wanted if source not in PROGRESS_SOURCES]):
        raise UsageError(f"--progress takes {', '.join(PROGRESS_SOURCES)}, not {given if not wanted else odd[0]!r}")
    return tuple(source for source in PROGRESS_SOURCES if source in wanted)
