"""From an observation to what each source says of the turn."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from midwatch.agents import exit_message
from midwatch.agents.definition import (
    Detector,
    Texts,
    find_presence,
    format_untested,
    is_agent,
    is_newer_than_tested,
    match_sources,
    split_regions,
)
from midwatch.agents.statusline_clock import find_clock
from midwatch.agents.turn_model import Departure, Presence, SessionFacts, SourceReading
from midwatch.core.foreign_text import ForeignText, shorten
from midwatch.core.pane_model import REPORTS, Observation, ProcessInfo, RunningAgent
from midwatch.core.text import visible

LONGEST = 60
BULLETS = " ●⏺•◦"
"""Before a row: the bullet of a tool that runs blinks, which is no progress."""
GROWS = ("size", "tokens", "event", "open", "count", "latest")
"""Words of a report that change when the work goes on."""
FULL_SCREEN = frozenset(
    {
        "vim", "vim.basic", "vim.tiny", "nvim", "vi", "view", "nano", "pico", "emacs", "emacs-nox", "hx", "helix",
        "kak", "micro", "joe", "mcedit", "less", "more", "most", "man",
    }
)  # fmt: skip
"""Editors and pagers that an agent starts in its own place when a person asks for one."""


def build_facts(
    detector: Detector, sighting: Observation, name: str, running: RunningAgent | None = None
) -> SessionFacts:
    """An observation as the rules take it."""
    there = find_presence(detector, sighting.tasks, sighting.pane.command, dead=sighting.pane.dead)
    texts = rule_texts(detector, sighting, there)
    tools = find_tools(detector, sighting, there)
    release = texts.get("version", "")
    notes = [visible(f"{report.source}: {report.trouble}") for report in sighting.reports if report.trouble]
    new = is_newer_than_tested(detector, release)
    if new:
        notes.append(visible(f"drift: {detector.title} {release} {format_untested(detector)}"))
    if detector.any:
        notes.append("no known agent: judged by what it reports of itself (OSC 7501)")
    still = [row.lstrip(BULLETS) for row in texts["screen"].split("\n") if row and not detector.noise.search(row)]
    progress = {"text": _digest_rows(still), "tools": ",".join(str(task.pid) for task in tools)}
    for report in sighting.reports:
        progress |= {f"{report.source} {word}": report.words[word] for word in GROWS if word in report.words}
    life = {"screen": _digest_rows(sighting.rows), "title": sighting.pane.title}
    if shown := find_clock(texts.get(detector.clock, "").split("\n")):
        life["clock"] = shown
    return SessionFacts(
        name=name, agent=detector.title, now=sighting.now, wall=sighting.wall,
        said=_match_sources(detector, sighting, texts),
        there=there, progress=progress, life=life,
        tool_cpu_s=sum(task.cpu_s for task in tools), tool_io=sum(task.io for task in tools),
        tool=_open_tool(sighting, tools),
        started=running.started if running else None, notes=tuple(notes),
        left=collect_departure(detector, sighting) if there.state == "gone" else Departure(),
        release=release, doubts=("untested-release",) if new else (),
    )  # fmt: skip


def collect_departure(detector: Detector, sighting: Observation) -> Departure:
    """What tells how an agent ended that is gone: its status, where somebody saw it, and what stands in its pane."""
    words = next((report.words for report in sighting.reports if report.source == "process"), {})
    cursor = (sighting.pane.cursor_x, sighting.pane.cursor_y)
    return Departure(
        code=int(words["exit"]) if "exit" in words else None,
        signal=int(words["signal"]) if "signal" in words else None,
        goodbye=exit_message.has_exit_message(detector, sighting.rows, cursor),
        shell=None if sighting.pane.dead else exit_message.reported_signal(sighting.rows, cursor),
    )


def _open_tool(sighting: Observation, tools: list[ProcessInfo]) -> ForeignText:
    """What the transcript says is open, with the last process that was started for it."""
    named = next(
        (each.words["open"] for each in sighting.reports if each.source == "transcript" and each.words.get("open")), ""
    )
    line = " ".join(tools[-1].args) or tools[-1].name if tools else ""
    shown = shorten(line, LONGEST)
    return ForeignText(f"{named} ({shown})" if named and shown else named or shown)


def _digest_rows(rows: Iterable[str]) -> str:
    """Differs when the rows do, and is the same for whoever watches after us."""
    return str(zlib.crc32("\n".join(rows).encode("utf-8", "surrogatepass")))


def read_sources(detector: Detector, sighting: Observation) -> tuple[tuple[SourceReading, ...], Presence]:
    """What every source says, strongest first, and whether the agent is there at all."""
    there = find_presence(detector, sighting.tasks, sighting.pane.command, dead=sighting.pane.dead)
    return _match_sources(detector, sighting, rule_texts(detector, sighting, there)), there


def _match_sources(detector: Detector, sighting: Observation, texts: Texts) -> tuple[SourceReading, ...]:
    when = {report.source: report.at for report in sighting.reports}
    return tuple(
        _add_text(each._replace(at=when.get(each.source)), texts)
        for each in match_sources(detector, texts, texts.get("version", ""))
    )


def _add_text(said: SourceReading, texts: Texts) -> SourceReading:
    """With the error that a source tells of a turn that failed or hit a limit, and when that ends; or what it asks."""
    if said.turn not in ("limited", "waiting") and said.detail != "turn-failed":
        return said
    if said.turn == "waiting" and said.source != REPORTS:
        return said  # hooks only repeat for what it waits
    until = texts.get(f"{said.source}.until", "") if said.turn == "limited" else ""
    message = texts.get(f"{said.source}.message", "")
    return said._replace(until=said.until or ForeignText(until), text=said.text or ForeignText(message))


def rule_texts(detector: Detector, sighting: Observation, there: Presence) -> Texts:
    """The texts that rules may look at."""
    pane = sighting.pane
    texts, spans = split_regions(detector, () if is_covered(detector, sighting, there) else sighting.rows)
    texts["title"] = pane.title.strip()
    texts["command"] = pane.command
    texts["alternate"] = "yes" if pane.alternate else "no"
    if release := agent_version(detector, sighting, texts["screen"]):
        texts["version"] = release
    texts["cursor.visible"] = "yes" if pane.cursor_visible else "no"
    texts["cursor.row"] = sighting.rows[pane.cursor_y].rstrip() if pane.cursor_y < len(sighting.rows) else ""
    texts["cursor.in"] = " ".join(name for name, (first, past) in spans.items() if first <= pane.cursor_y < past)
    texts["tools"] = " ".join(task.name for task in find_tools(detector, sighting, there))
    if sighting.styles:
        texts |= {
            f"{name}.style": sighting.styles[first]
            for name, (first, _) in spans.items()
            if first < len(sighting.styles)
        }
    for report in sighting.reports:
        texts |= {f"{report.source}.{word}": value for word, value in report.words.items()}
    return texts


def find_tools(detector: Detector, sighting: Observation, there: Presence) -> list[ProcessInfo]:
    """Processes below the agent's that are not the agent itself: agents start themselves again, or by a launcher.

    Nor daemons that it shares with other sessions: what they do is nobody's turn.
    """
    shared = detector.start.daemons if detector.start else ()
    daemons = {task.pid for task in sighting.tasks if any(sign in " ".join(task.args) for sign in shared)}
    parents = {task.pid: task.parent for task in sighting.tasks if task.pid not in daemons}

    def below(pid: int) -> bool:
        while (pid := parents.get(pid, 0)) and pid != there.pid:
            pass
        return bool(there.pid) and pid == there.pid

    return [task for task in sighting.tasks if below(task.pid) and not is_agent(detector, task)]


def is_covered(detector: Detector, sighting: Observation, there: Presence) -> bool:
    """Whether an editor or a pager below the agent has the terminal: then the rows are not the agent's."""
    return any(task.foreground and task.name in FULL_SCREEN for task in find_tools(detector, sighting, there))


def agent_version(detector: Detector, sighting: Observation, screen: str) -> str:
    """The agent's version: as its files tell it, else as its screen shows it; empty when neither does."""
    for report in sighting.reports:
        if report.words.get("version"):
            return report.words["version"]
    found = detector.version.search(screen) if detector.version else None
    return found["version"] if found else ""
