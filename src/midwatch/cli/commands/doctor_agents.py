"""What `midwatch doctor` finds of coding agents: their files, releases, hooks, and sources that are ignored."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from midwatch.agents import catalog, installed_version
from midwatch.agents.definition import Detector, format_untested, is_newer_than_tested
from midwatch.agents.hooks import registration
from midwatch.agents.source_checks import store as source_checks_store
from midwatch.agents.source_checks.codec import format_disbelief
from midwatch.core.errors import FormatError
from midwatch.core.text import visible
from midwatch.core.value import Value

ADD = "`midwatch hooks add`; without hooks their files and screens are read"


class DoctorFinding(Value):
    """One thing that was looked at."""

    level: str
    """`ok`, `note`, `warning` or `wrong`."""
    about: str
    says: str
    mend: str = ""
    """What to do about it."""


def agent_findings() -> Iterator[DoctorFinding]:
    known: list[Detector] = []
    for agent, path in catalog.definition_paths().items():
        try:
            known.append(catalog.load(agent))
        except FormatError as error:
            yield DoctorFinding("wrong", agent, str(error))
            continue
        if not path.startswith(catalog.OURS):
            yield DoctorFinding("note", agent, f"your own {path} ({len(known[-1].rules)} rules) is used")
    installed = [each for each in known if installed_version.find_version(each.agent)]
    for detector in installed:
        yield _release_finding(detector)
    if missing := [each.agent for each in known if each not in installed and not each.any]:
        says = f"not in PATH: {', '.join(missing)}"
        yield DoctorFinding("note", "agents", says, "" if installed else "install one of them to have it watched")
    yield from _hook_findings(installed)
    yield from _disbelief_findings(known)


def _release_finding(detector: Detector) -> DoctorFinding:
    path, version = installed_version.find_version(detector.agent) or ("", "")
    if not version:
        return DoctorFinding("note", detector.agent, f"{path}: nothing tells its version")
    if is_newer_than_tested(detector, version):
        return DoctorFinding("warning", detector.agent, f"{version} {format_untested(detector)}: drift is possible")
    how = "tested" if version in detector.tested else "between tested releases"
    return DoctorFinding("ok", detector.agent, f"{version}, {how} ({path})")


def _hook_findings(installed: list[Detector]) -> Iterator[DoctorFinding]:
    """One line for all that are in order, or lack hooks; one for each whose file is not."""
    found = registration.list_registrations(tuple(installed))
    by_state = {state: [each.agent for each in found if each.state == state] for state in ("registered", "absent")}
    if by_state["registered"]:
        yield DoctorFinding("ok", "hooks", f"registered: {', '.join(by_state['registered'])}")
    if by_state["absent"]:
        yield DoctorFinding("note", "hooks", f"not registered: {', '.join(by_state['absent'])}", ADD)
    for each in found:
        if each.state == "outdated":
            says = f"{each.path} names the hook of another installation, or not for each event"
            yield DoctorFinding("warning", "hooks", visible(says), f"`midwatch hooks add {each.agent}`")
        elif each.state == "unreadable":
            yield DoctorFinding("warning", "hooks", visible(f"{each.path}: {each.problem}"), "mend that file")


def _disbelief_findings(known: list[Detector]) -> Iterator[DoctorFinding]:
    """Sources that have contradicted stronger ones too often."""
    reading = source_checks_store.read_records()
    if reading.trouble:
        mend = f"remove it, and everything is counted anew: {source_checks_store.records_path()}"
        yield DoctorFinding("warning", "sources", visible(f"{reading.trouble}; every source is believed"), mend)
    titles = {each.agent: each.title for each in known}
    for release in reading.records:
        for record in release.claims:
            if (doubt := record.disbelief) is None:
                continue
            since = time.strftime("%Y-%m-%d %H:%M", time.localtime(doubt.since))
            says = format_disbelief(record.claim, doubt, titles.get(release.agent, release.agent), release.version)
            mend = f"`midwatch replay {doubt.evidence}` shows it" if os.path.exists(doubt.evidence) else ""
            yield DoctorFinding("warning", release.agent, visible(f"{says}, since {since}"), visible(mend))
