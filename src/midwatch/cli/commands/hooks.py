"""`midwatch hooks`: have agents report each step of a turn to Midwatch, or stop them doing so."""

from __future__ import annotations

import sys

from midwatch.agents import catalog, installed_version
from midwatch.agents.definition import Detector
from midwatch.agents.hooks import registration
from midwatch.agents.hooks.registration import HookRegistration
from midwatch.cli import output
from midwatch.cli.parser import Options
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.foreign_text import escape_text
from midwatch.core.json_text import dump

WORDS = ("list", "add", "remove")
SAYS = {
    "registered": "reports to Midwatch",
    "absent": "does not report to Midwatch",
    "outdated": "reports to another installation, or not each event; `midwatch hooks add` renews it",
}


def main(options: Options) -> int:
    word, names = (options.names[0], options.names[1:]) if options.names else ("list", [])
    if word not in WORDS:
        raise UsageError(f"hooks takes {', '.join(WORDS)}, not {word!r}")
    known = {each.agent: each for each in catalog.load_all() if each.hooks}
    if odd := [name for name in names if name not in known]:
        raise UsageError(f"Midwatch knows no hooks of {odd[0]!r}; it knows those of {', '.join(known)}")
    chosen = [known[name] for name in dict.fromkeys(names)] or _default_agents(word, list(known.values()))
    if not chosen:
        raise RefusedError(f"none of {', '.join(known)} is installed here; name one to change its settings anyway")
    failed = False
    for detector in chosen:
        try:
            found = _carry_out(word, detector)
        except RefusedError as error:
            output.print_remark(f"{detector.agent}: {error}")
            failed = True
            continue
        failed |= found.state == "unreadable"
        _print_registration(found, json=options.flag("--json"))
        if word == "add" and found.note and not options.flag("--json"):
            print(f"{'':12}{found.note}", file=sys.stderr)
    return int(failed)


def _default_agents(word: str, known: list[Detector]) -> list[Detector]:
    """Without names, `add` concerns the agents that are installed; `list` and `remove` concern all."""
    return [each for each in known if word != "add" or installed_version.find_version(each.agent)]


def _carry_out(word: str, detector: Detector) -> HookRegistration:
    assert detector.hooks is not None
    if word == "add":
        return registration.register_hook(detector, detector.hooks)
    if word == "remove":
        return registration.unregister_hook(detector, detector.hooks)
    return registration.read_registration(detector, detector.hooks)


def _print_registration(found: HookRegistration, *, json: bool) -> None:
    if json:
        print(dump({"schema": 1, **found._asdict()}, spaced=True))
        return
    says = SAYS.get(found.state) or f"cannot be read: {escape_text(found.problem)}"
    print(f"{found.agent:<11} {found.state:<11} {escape_text(found.path)}: {says}")
