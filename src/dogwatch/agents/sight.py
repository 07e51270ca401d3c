"""From a sighting to what each source says of the turn."""

from __future__ import annotations

from dogwatch.agents.detector import Detector, Texts, hear, newer_than_tested, presence, regions, untested
from dogwatch.model.session import Running, Sighting
from dogwatch.model.turns import Presence, Said, SessionFacts

GROWS = ("size", "tokens", "event", "open", "count", "latest")
"""Words of a report that change when the work goes on."""


def facts(detector: Detector, sighting: Sighting, name: str, running: Running | None = None) -> SessionFacts:
    """A sighting as the judge takes it."""
    said, there = ask(detector, sighting)
    tools = [task for task in sighting.tasks if below(sighting, task.pid, there.pid)]
    release = version(detector, sighting, "\n".join(sighting.rows))
    notes = [f"{report.source}: {report.trouble}" for report in sighting.reports if report.trouble]
    if newer_than_tested(detector, release):
        notes.append(f"drift: {detector.title} {release} {untested(detector)}")
    still = [row for row in sighting.rows if row.strip() and not detector.noise.search(row)]
    progress = {"text": str(hash(tuple(still))), "tools": ",".join(str(task.pid) for task in tools)}
    for report in sighting.reports:
        progress |= {f"{report.source} {word}": report.words[word] for word in GROWS if word in report.words}
    return SessionFacts(
        name=name, agent=detector.title, now=sighting.now, wall=sighting.wall, said=said, there=there,
        progress=progress, life={"screen": str(hash(sighting.rows)), "title": sighting.pane.title},
        tool_cpu_s=sum(task.cpu_s for task in tools), tool_io=sum(task.io for task in tools),
        started=running.started if running else None, notes=tuple(notes),
    )  # fmt: skip


def ask(detector: Detector, sighting: Sighting) -> tuple[tuple[Said, ...], Presence]:
    """What every source says, strongest first, and whether the agent is there at all."""
    pane = sighting.pane
    there = presence(detector, sighting.tasks, pane.command, dead=pane.dead)
    texts = look(detector, sighting, there)
    when = {report.source: report.at for report in sighting.reports}
    said = hear(detector, texts, texts.get("version", ""))
    return tuple(each._replace(at=when.get(each.source)) for each in said), there


def look(detector: Detector, sighting: Sighting, there: Presence) -> Texts:
    """The texts that rules may look at."""
    pane = sighting.pane
    texts, spans = regions(detector, sighting.rows)
    texts["title"] = pane.title.strip()
    texts["command"] = pane.command
    texts["alternate"] = "yes" if pane.alternate else "no"
    if release := version(detector, sighting, texts["screen"]):
        texts["version"] = release
    texts["cursor.visible"] = "yes" if pane.cursor_visible else "no"
    texts["cursor.row"] = sighting.rows[pane.cursor_y].rstrip() if pane.cursor_y < len(sighting.rows) else ""
    texts["cursor.in"] = " ".join(name for name, (first, past) in spans.items() if first <= pane.cursor_y < past)
    texts["tools"] = " ".join(task.name for task in sighting.tasks if below(sighting, task.pid, there.pid))
    for report in sighting.reports:
        texts |= {f"{report.source}.{word}": value for word, value in report.words.items()}
    return texts


def below(sighting: Sighting, pid: int, agent: int) -> bool:
    """Whether a process lies below the agent's: one of its tools."""
    parents = {task.pid: task.parent for task in sighting.tasks}
    while (pid := parents.get(pid, 0)) and pid != agent:
        pass
    return bool(agent) and pid == agent


def version(detector: Detector, sighting: Sighting, screen: str) -> str:
    """The agent's version: as its files tell it, else as its screen shows it; empty when neither does."""
    for report in sighting.reports:
        if report.words.get("version"):
            return report.words["version"]
    found = detector.version.search(screen) if detector.version else None
    return found["version"] if found else ""
