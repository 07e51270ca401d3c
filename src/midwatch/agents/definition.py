"""A detector: everything that one agent's file says, ready to be asked."""

from __future__ import annotations

import re
from collections import deque

from midwatch.agents import wrapped_rows
from midwatch.agents.dialog_lists import DialogRules
from midwatch.agents.hooks.model import HookRules
from midwatch.agents.launch import LaunchRules
from midwatch.agents.lazy_pattern import LazyPattern
from midwatch.agents.turn_model import Presence, SourceReading
from midwatch.core.foreign_text import ForeignText
from midwatch.core.pane_model import SOURCES, ProcessInfo
from midwatch.core.text import visible
from midwatch.core.value import Value

LONGEST_TEXT = 200
"""Characters that are kept of what an agent says of itself."""

Texts = dict[str, str]
"""What the rules look at, by name: regions of the screen, the title, fields of files …"""
Conditions = tuple[tuple[str, LazyPattern], ...]
"""Names of texts, and what is looked for in each."""


class ScreenRegion(Value):
    """A part of the screen."""

    name: str
    within: str
    """Region or text that it is searched in."""
    match: LazyPattern | None
    """It is the last match of this; None for a region that lies beside another."""
    above: str = ""
    below: str = ""
    without: str = ""
    """It is there only while that region is not."""
    otherwise: str = ""
    """What it is where the regions that it is reckoned from are not on the screen; without: it is missing too."""
    flat: bool = False
    """Runs of blanks and line breaks are read as one blank, so that narrow panes read like wide ones."""


class DetectionRule(Value):
    name: str
    source: str
    turn: str
    detail: str
    priority: int
    when: Conditions
    """All of these texts are there and match."""
    unless: Conditions
    """None of these texts matches."""
    versions: tuple[tuple[int, ...], tuple[int, ...]] | None
    """First version that this holds for, and the first that it does not."""


class PromptBoxRules(Value):
    """Where a prompt is typed, and how one sees what stands there."""

    box: str
    """The region."""
    empty: re.Pattern[str]
    """How that reads, without what is dim in it, while nothing has been typed."""
    frame: re.Pattern[str]
    """What is drawn around the text."""
    folded: re.Pattern[str] | None
    """What stands for a long text: how many `lines`, how many `more` than one, how many `chars`."""
    unless: Conditions
    """While one of these texts matches, what is typed goes elsewhere."""
    submit: str = "Enter"
    clear: tuple[str, ...] = ("C-u", "BSpace")
    """Keys that take out a line before the cursor, and join what is left to the line above."""


class LimitRules(Value):
    """What the agent itself does about a limit of its service."""

    menu: Conditions
    """All of these texts match while its menu is open and the choice "wait" is the one that is marked."""
    wait: tuple[str, ...]
    """Keys that take this choice."""


class Detector(Value):
    agent: str
    title: str
    tested: tuple[str, ...]
    """Versions whose screens are in the goldens; a newer one is reported as drift."""
    names: re.Pattern[str]
    """Name of the process, or its command line as `ps` shows it."""
    not_names: re.Pattern[str] | None
    """Processes of the same name that are not the agent itself: its daemons."""
    variables: tuple[str, ...]
    """Environment variables that say where its files are."""
    version: re.Pattern[str] | None
    """Where the screen shows the agent's version."""
    noise: re.Pattern[str]
    """Rows that move although the work does not: spinners, timers, status lines."""
    firm: tuple[str, ...]
    """Sources of events that tell of every end of a turn, failed and interrupted ones too."""
    regions: tuple[ScreenRegion, ...]
    rules: tuple[DetectionRule, ...]
    typing: PromptBoxRules | None = None
    """None where nobody has looked at how it takes a prompt."""
    start: LaunchRules | None = None
    """None where nobody has looked at how it is started."""
    limits: LimitRules | None = None
    """None where it does nothing about a limit."""
    hooks: HookRules | None = None
    """None where it calls no hooks, or nobody has tried it."""
    dialogs: tuple[DialogRules, ...] = ()
    """How its dialogs list their choices; the first that fits an open dialog holds."""
    clock: str = ""
    """The region in which people have it show the time; empty where it shows none."""
    any: bool = False
    """It stands for every program that is not known otherwise."""
    asks_after: str = ""
    """What it prints before it asks whether its reports (OSC 7501) are read; empty where it does not ask."""


CARRIERS = frozenset(
    {"ssh", "mosh-client", "docker", "podman", "kubectl", "lxc", "incus", "nsenter", "tmux", "screen", "distrobox"}
)
"""What may have the agent inside it where no process list of ours can see."""


def split_regions(detector: Detector, rows: tuple[str, ...]) -> tuple[Texts, dict[str, tuple[int, int]]]:
    """The screen cut up: each region's text, and the rows (first, and one past the last) that it spans."""
    lines, starts = wrapped_rows.join_rows(normalize_rows(rows))
    screen = "\n".join(lines)
    spans: dict[str, tuple[int, int]] = {"screen": (0, len(screen))}
    for region in detector.regions:
        span = _span(region, spans, screen)
        if span is None and region.otherwise:
            span = spans.get(region.otherwise)
        if span is not None:
            spans[region.name] = span
    flat = {region.name for region in detector.regions if region.flat}
    texts = {name: " ".join(screen[a:b].split()) if name in flat else screen[a:b] for name, (a, b) in spans.items()}
    ends = {name: (screen.count("\n", 0, a), screen.count("\n", 0, b)) for name, (a, b) in spans.items()}
    return texts, {name: (starts[first], starts[last + 1]) for name, (first, last) in ends.items()}


def normalize_rows(rows: tuple[str, ...]) -> list[str]:
    """Rows as rules see them: without what is blank at their ends, hard blanks, and marks that only choose a font."""
    screen = "\n".join([row.rstrip() for row in rows]).rstrip("\n")
    if not screen.isascii():
        screen = screen.replace("\xa0", " ").replace("\ufe0e", "").replace("\ufe0f", "")
    return screen.split("\n")


def _span(region: ScreenRegion, spans: dict[str, tuple[int, int]], screen: str) -> tuple[int, int] | None:
    within = spans.get(region.within)
    if within is None or region.without in spans:
        return None
    start, end = within
    if region.above or region.below:
        upper, lower = spans.get(region.below), spans.get(region.above)
        if (region.below and upper is None) or (region.above and lower is None):
            return None
        if upper is not None:
            start = max(start, min(upper[1] + 1, end))
        if lower is not None:
            end = min(end, max(lower[0] - 1, start))
    if region.match is None:
        return start, end
    found = deque(region.match.pattern.finditer(screen, start, end), maxlen=1)
    return found[0].span() if found else None


def match_sources(detector: Detector, texts: Texts, version: str) -> tuple[SourceReading, ...]:
    """What each source says, strongest source first: of every source the matching rule with the highest priority."""
    number = parse_version(version)
    said: dict[str, SourceReading] = {}
    for rule in detector.rules:
        if rule.source not in said and _rule_matches(rule, texts, number):
            said[rule.source] = SourceReading(
                rule.source, rule.turn, rule.detail, rule.name, None,
                ForeignText(_captured_group(rule, texts, "until").rstrip(".")),
                ForeignText(_captured_group(rule, texts, "text")),
                firm=rule.source in detector.firm,
            )  # fmt: skip
    return tuple(said[source] for source in SOURCES if source in said)


def _rule_matches(rule: DetectionRule, texts: Texts, version: tuple[int, ...]) -> bool:
    if rule.versions is not None and version and not rule.versions[0] <= version < rule.versions[1]:
        return False
    return _conditions_match(rule.when, texts) and not any(
        name in texts and wanted.pattern.search(texts[name]) for name, wanted in rule.unless
    )


def _conditions_match(conditions: Conditions, texts: Texts) -> bool:
    return all(name in texts and wanted.pattern.search(texts[name]) for name, wanted in conditions)


def offers_to_wait(detector: Detector, rows: tuple[str, ...]) -> bool:
    """Whether its limit menu is open, with the choice "wait" marked."""
    return detector.limits is not None and _conditions_match(detector.limits.menu, split_regions(detector, rows)[0])


def _captured_group(rule: DetectionRule, texts: Texts, group: str) -> str:
    """What a named group of the rule's conditions matched, on one line."""
    for name, wanted in rule.when:
        pattern = wanted.pattern
        if group in pattern.groupindex and (found := pattern.search(texts[name])) and found[group]:
            return " ".join(found[group].split())[:LONGEST_TEXT]
    return ""


def find_presence(detector: Detector, tasks: tuple[ProcessInfo, ...], command: str, *, dead: bool) -> Presence:
    """Whether the agent's process is among those of the pane."""
    if dead:
        return Presence("gone", "the pane's process has ended")
    agents = [task for task in _agent_processes(detector, tasks) if task.letter not in "ZX"]
    if agents:
        task = agents[0]
        if all(each.letter in "Tt" for each in agents):
            return Presence("suspended", f"{visible(task.name)} ({task.pid}) is suspended", task.pid)
        awake = next(each.pid for each in agents if each.letter not in "Tt")
        return Presence("alive", f"{visible(task.name)} ({task.pid}) runs", awake)
    if not tasks:
        if detector.names.search(command) or not command:
            return Presence("unseen", "no process list")
        tasks = (ProcessInfo(0, 0, "?", command, (), 0),)
    if any(task.name in CARRIERS for task in tasks):
        return Presence("unseen", f"what runs inside {visible(command)} cannot be seen from here")
    front = visible(command or tasks[0].name)
    return Presence("gone", f"no process of {visible(detector.title)} in the pane; {front} is in front")


def _agent_processes(detector: Detector, tasks: tuple[ProcessInfo, ...]) -> list[ProcessInfo]:
    """Processes that are the agent itself; not what its daemons run, which may be the agent too, elsewhere."""
    apart: set[int] = set()
    found: list[ProcessInfo] = []
    for task in tasks:  # parents come before their children
        named = _is_named(detector, task)
        if task.parent in apart or (named and _is_excluded(detector, task)):
            apart.add(task.pid)
        elif named:
            found.append(task)
    return found


def is_agent(detector: Detector, task: ProcessInfo) -> bool:
    """Whether a process is the agent itself."""
    return _is_named(detector, task) and not _is_excluded(detector, task)


def _is_named(detector: Detector, task: ProcessInfo) -> bool:
    return bool(detector.names.search(task.name) or detector.names.search(" ".join(task.args)))


def _is_excluded(detector: Detector, task: ProcessInfo) -> bool:
    return detector.not_names is not None and bool(detector.not_names.search(" ".join(task.args)))


def find_agent(detectors: tuple[Detector, ...], tasks: tuple[ProcessInfo, ...]) -> tuple[Detector, ProcessInfo] | None:
    """Which agent runs among some processes, and as which; the one nearest to the top of the tree."""
    alive = tuple(task for task in tasks if task.letter not in "ZX")
    own = [(detector, {task.pid for task in _agent_processes(detector, alive)}) for detector in detectors]
    for task in alive:
        for detector, pids in own:
            if task.pid in pids:
                return detector, task
    return None


def parse_version(version: str) -> tuple[int, ...]:
    """A version as numbers that compare: 2.1.197 → (2, 1, 197); empty when it is not one."""
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("-")[0])[:4])


def adapt_to_process(detector: Detector, task: ProcessInfo) -> Detector:
    """The detector of any program, for this one."""
    return detector._replace(title=task.name, names=re.compile(f"^{re.escape(task.name)}$"))


def is_newer_than_tested(detector: Detector, version: str) -> bool:
    """Whether a version is newer than every one whose screens were looked at."""
    return bool(version) and parse_version(version) > max(map(parse_version, detector.tested), default=())


def format_untested(detector: Detector) -> str:
    """What to say of such a version."""
    known = ", ".join(detector.tested)
    return f"is newer than any tested ({known})" if known else "has never been tested"
