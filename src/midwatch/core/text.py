"""Text for people: signals, durations, ends of work, text of others on one line, and long lists cut short."""

from __future__ import annotations

from midwatch.core.foreign_text import ForeignText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from midwatch.core.job_model import End
    from midwatch.core.policy import Policy

SIGNALS = {
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
    9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
    24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
}  # fmt: skip
"""Linux numbers. The signal module would build its enums at every start of a hot verb."""

MINUTE, HOUR, DAY = 60, 3600, 86400
TWO_DAYS = 2 * DAY
TEN, THOUSAND = 10, 1000
FEW = 10
"""Lines that are shown of many of one kind."""


def signal_name(number: int) -> str:
    return SIGNALS.get(number, f"signal {number}")


def signal_number(name: str) -> int | None:
    """The signal that has this name; None for none."""
    found = next((number for number, each in SIGNALS.items() if each == name), None)
    number = name.removeprefix("signal ")
    return int(number) if found is None and number != name and number.isdecimal() and number.isascii() else found


def format_duration(seconds: float) -> str:
    """A duration: 0.4s, 12.3s, 3m 05s, 2h 10m."""
    if seconds < MINUTE:
        return f"{seconds:.1f}s" if seconds != int(seconds) else f"{int(seconds)}s"
    minutes, rest = divmod(int(seconds), MINUTE)
    if minutes < MINUTE:
        return f"{minutes}m {rest:02d}s" if rest else f"{minutes}m"
    return f"{minutes // MINUTE}h {minutes % MINUTE:02d}m"


def format_age(seconds: float) -> str:
    """How long ago something was, in one unit: 12s ago, 3m ago, 5h ago, 9d ago."""
    whole = max(0, int(seconds))
    if whole < MINUTE:
        return f"{whole}s ago"
    if whole < HOUR:
        return f"{whole // MINUTE}m ago"
    return f"{whole // HOUR}h ago" if whole < TWO_DAYS else f"{whole // DAY}d ago"


def format_size(size: int) -> str:
    """Bytes for people: 812 B, 4.2 kB, 13 MB."""
    amount = float(size)
    for unit in ("B", "kB", "MB"):
        if amount < THOUSAND:
            return f"{amount:.1f} {unit}" if unit != "B" and amount < TEN else f"{amount:.0f} {unit}"
        amount /= THOUSAND
    return f"{amount:.1f} GB"


def visible(text: str) -> str:
    """A text of others that is known as a plain ``str``, on one line for a person.

    Control characters, odd blanks, invisible and bidirectional marks become escapes.
    """
    return ForeignText(text).line()


def first_few(lines: Iterable[str], what: str) -> list[str]:
    """The first of many lines, and a last one that says how many more there are; ``what`` names them."""
    found = list(dict.fromkeys(lines))
    left = len(found) - FEW
    return [*found[:FEW], f"and {left} more {what}"] if left > 0 else found


def end_in_words(end: End, policy: Policy) -> str:
    """How work ended."""
    after = f"after {format_duration(end.elapsed_s)}"
    if end.state == "timeout":
        return f"not done after {format_duration(policy.timeout_s or end.elapsed_s)}; stopped"
    if end.reason:
        return f"{end.reason}; stopped {after}" if end.state in ("stuck", "stopped") else end.reason
    return f"killed by {signal_name(end.signal)} {after}" if end.signal else f"exit {end.exit_code} {after}"
