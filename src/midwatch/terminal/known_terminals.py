"""Which terminals are known by the environment that they give to their programs, and what they understand.

A terminal that is not known can still be asked (`status_report.QUERY`); for OSC 9;4 there is no question. Where it is
not understood it may be shown as a notification (`OSC 9 ; text`), so it goes to terminals of this list only.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

STATUS = {"ghostty": (1, 4)}
"""TERM_PROGRAM, and since which version it shows OSC 7501. Ghostty: its author published the protocol with 1.4."""
BAR = {"ghostty": (1, 2), "iTerm.app": (3, 6, 6)}
"""The same of OSC 9;4. Ghostty: release notes of 1.2.0. iTerm2: release notes of 3.6.6; older ones notify.

WezTerm is not here: only nightly builds read it, show it only by a script of the user, and 20240203 notifies.
"""
KONSOLE = 260400
"""KONSOLE_VERSION of the first release with OSC 9;4: 26.04.0 (konsole merge request 1054)."""
SILENT = ("", "dumb", "linux")
"""TERM of what shows no status: no terminal that is known, or one without windows and tabs."""
INSIDE = ("TMUX", "STY")
"""Set by tmux and GNU screen, which neither answer the query nor pass reports on to the terminal outside."""
FAR = ("SSH_CONNECTION", "SSH_TTY")


def shows_status(env: Mapping[str, str]) -> bool:
    return _is_recent(env, STATUS)


def shows_progress_bar(env: Mapping[str, str]) -> bool:
    if env.get("WT_SESSION"):  # Windows Terminal, since 1.6: microsoft/terminal pull request 8055
        return True
    if env.get("ConEmuANSI") == "ON":  # who invented it: conemu.github.io/en/AnsiEscapeCodes.html
        return True
    konsole = env.get("KONSOLE_VERSION", "")
    return _is_recent(env, BAR) or (konsole.isdecimal() and int(konsole) >= KONSOLE)


def takes_reports(env: Mapping[str, str]) -> bool:
    """Whether there may be somebody behind a terminal who reads a report."""
    term = env.get("TERM", "")
    multiplexed = any(env.get(name) for name in INSIDE) or term.startswith(("tmux", "screen"))
    return not multiplexed and term not in SILENT


def answers_queries(env: Mapping[str, str]) -> bool:
    """Whether an answer comes in time. A late one, over a slow line, would be typed into the next program."""
    return not any(env.get(name) for name in FAR)


def _is_recent(env: Mapping[str, str], versions: Mapping[str, tuple[int, ...]]) -> bool:
    needed = versions.get(env.get("TERM_PROGRAM", ""))
    return needed is not None and _parse_version(env.get("TERM_PROGRAM_VERSION", "")) >= needed


def _parse_version(text: str) -> tuple[int, ...]:
    """The leading numbers: (1, 4, 0) of 1.4.0-dev."""
    numbers: list[int] = []
    for part in text.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
        if digits != part:
            break
    return tuple(numbers)
