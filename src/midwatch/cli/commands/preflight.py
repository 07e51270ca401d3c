"""`midwatch preflight`: is everything there that the work will need, before a night is spent on it?"""

import os

from midwatch.cli import output
from midwatch.cli.parser import Options
from midwatch.config import load, paths
from midwatch.core.errors import UsageError
from midwatch.core.json_text import dump
from midwatch.core.text import visible
from midwatch.preflight import run
from midwatch.preflight.model import Finding

PASSED, FAILED, UNRUN = ("32", "ok"), ("31", "FAILED"), ("33", "NOT RUN")
WIDEST = 40
NAMED = 3
NARROW = 80
"""Columns of a terminal that does not know its size."""


def main(options: Options) -> int:
    if options.names:
        raise UsageError("preflight takes no names; its checks stand in midwatch.toml")
    project, state = paths.project_root(os.getcwd()), paths.sentinel_directory(options.text("--dir"))
    found = _run_checks(project, state)
    if options.flag("--fix") and any(each.fix and not each.ok for each in found):
        outcomes = run.run_fixes(project, found, _print_remark)
        found = run.findings_after_fixes(_run_checks(project, state), outcomes)
    if options.flag("--json"):
        for each in found:
            print(_format_finding(each))
    else:
        _print_table(found)
    return 0 if all(each.ok for each in found) else 1


def _run_checks(project: str, state: str) -> list[Finding]:
    live = _LiveLine()
    try:
        return run.run_checks(project, load.load(project), state=state, waiting=live.draw)
    finally:
        live.clear()


def _print_remark(text: str) -> None:
    output.print_remark(text)


def _format_finding(found: Finding) -> str:
    about = {"check": found.name, **{key: value for key, value in found._asdict().items() if key != "name"}}
    return dump({"schema": 1, **about}, spaced=True)


def _print_table(findings: list[Finding]) -> None:
    width = min(WIDEST, max(len(visible(each.name)) for each in findings))
    for each in findings:
        colour, word = PASSED if each.ok else FAILED if each.ran else UNRUN
        shown = f"\033[{colour}m{word:<7}\033[0m" if output.uses_colour(1) else f"{word:<7}"
        print(f"{shown} {visible(each.name):<{width}}  {visible(each.says)}")
        if each.ok:
            continue
        below = " " * 8
        if each.fix:
            print(f"{below}fix: {visible(each.fix)}  ({visible(each.source)}; `--fix` runs it)")
        if each.advice:
            print(f"{below}{'or' if each.fix else 'fix'}: {visible(each.advice)}")
    print(run.format_counts(findings))


class _LiveLine:
    """What is still waited for, on a terminal, once that takes long."""

    def __init__(self) -> None:
        self.shown = False

    def draw(self, names: list[str]) -> None:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        text = f"waiting for {', '.join(map(visible, names[:NAMED]))}{more} …"
        try:
            columns = os.get_terminal_size(2).columns or NARROW
            os.write(2, f"\r\033[2K{text[: columns - 1]}".encode("utf-8", "replace"))
        except OSError:  # it is no terminal, or one that has gone
            return
        self.shown = True

    def clear(self) -> None:
        if self.shown:
            os.write(2, b"\r\033[2K")
