"""`midwatch doctor`: whether everything is there that Midwatch needs, and what it has not been tested with."""

import os
import sys
import time
from collections.abc import Iterator

from midwatch import __version__
from midwatch.agents import catalog, installed
from midwatch.agents.definition import Detector, newer_than_tested, untested
from midwatch.agents.source_checks import store as source_checks_store
from midwatch.agents.source_checks.codec import worded
from midwatch.cli import context, pane_arguments
from midwatch.cli.parser import Options
from midwatch.config import load as files_of_settings
from midwatch.config import paths, trust
from midwatch.config.model import Settings
from midwatch.core.errors import FormatError, MidwatchError, RefusedError, UsageError
from midwatch.core.json_text import dump
from midwatch.core.text import first_few, visible
from midwatch.core.value import Value
from midwatch.integrations.mqtt import broker_settings
from midwatch.jobs import start
from midwatch.notifications import mqtt_publish_state, outbox
from midwatch.preflight import machine
from midwatch.registry import tmux_servers
from midwatch.sessions import find_agent
from midwatch.system import capabilities, inotify
from midwatch.tmux import client as tmux_client

OLDEST = (3, 11)
REFUSES = "`midwatch run` refuses to start until then"
SIGNS = {"ok": ("32", "ok"), "note": ("2", "note"), "warning": ("33", "warning"), "wrong": ("31", "WRONG")}


class DoctorFinding(Value):
    """One thing that was looked at."""

    level: str
    """`ok`, `note`, `warning` or `wrong`."""
    about: str
    says: str
    mend: str = ""
    """What to do about it."""


def main(options: Options) -> int:
    if options.names:
        raise UsageError("doctor takes no names")
    worst = 0
    for found in _findings(options):
        worst = max(worst, found.level == "wrong")
        if options.flag("--json"):
            print(dump(found._asdict(), spaced=True))
        else:
            colour, word = SIGNS[found.level]
            plain = os.environ.get("NO_COLOR") or not sys.stdout.isatty()
            shown = f"{word:<8}" if plain else f"\033[{colour}m{word:<8}\033[0m"
            print(f"{shown} {found.about:<16} {visible(found.says)}")
            if found.mend:
                print(f"{'':26}{visible(found.mend)}")
    return int(worst)


def _findings(options: Options) -> Iterator[DoctorFinding]:
    try:
        paths.here()
    except RefusedError as error:
        yield DoctorFinding("wrong", "directory", str(error), REFUSES)
        return
    for about in (_system, _settings, _notices):
        yield from about(options)
    yield from (*_agent_files(), *_installed(), *_disbelieved(), *_in_panes(options))


def _system(options: Options) -> Iterator[DoctorFinding]:
    here = ".".join(map(str, sys.version_info[:3]))
    enough = sys.version_info[:2] >= OLDEST
    yield DoctorFinding("ok" if enough else "wrong", "python", here if enough else f"{here}; 3.11 or newer is needed")
    yield DoctorFinding(
        "ok", "midwatch", f"{__version__} ({os.path.dirname(os.path.dirname(os.path.abspath(__file__)))})"
    )
    directory = paths.directory(options.text("--dir"))
    if few := start.few_files():
        yield DoctorFinding("wrong", "open files", few, REFUSES)
    if why := paths.trial(directory):
        yield DoctorFinding("wrong", "state directory", why, REFUSES)
    elif hidden := inotify.hides_events(directory):
        says = f"{directory}: {hidden}; it is looked at every 2 s instead"
        yield DoctorFinding("warning", "state directory", says, "set MIDWATCH_HOME to a directory on a local disk")
    else:
        yield DoctorFinding("ok", "state directory", directory)
    for limit in capabilities.here(directory):
        yield DoctorFinding("warning" if limit.harmful else "note", limit.about, limit.says, limit.mend)


def _settings(options: Options) -> Iterator[DoctorFinding]:
    """The settings as `run` takes them: files, variables, and its checks where it makes them before each start."""
    project = paths.project(paths.here())
    try:
        found = files_of_settings.load(project)
    except FormatError as error:
        yield DoctorFinding("wrong", "settings", str(error), f"mend that line; {REFUSES}")
        return
    for path in found.files:
        problem = trust.problem(path) if os.path.basename(path) == "midwatch.toml" else ""
        yield DoctorFinding("note" if problem else "ok", "settings", problem or path)
    try:
        context.policy(Options("run"))
        given = context.settings(Options("run"))
    except UsageError as error:
        yield DoctorFinding("wrong", "settings", str(error), REFUSES)
        return
    if given.preflight:
        yield from _checks(project, given, paths.directory(options.text("--dir")))


def _checks(project: str, given: Settings, state: str) -> Iterator[DoctorFinding]:
    from midwatch.preflight import run

    found = run.look(project, given, state=state)
    for each in found:
        if not each.ok:
            yield DoctorFinding("wrong", "preflight", visible(f"{each.name}: {each.says}"), REFUSES)
    if not run.summary(found):
        yield DoctorFinding("ok", "preflight", run.counted(found))


def _notices(options: Options) -> Iterator[DoctorFinding]:
    from midwatch.notifications import deliver

    yield from _publishing(paths.directory(options.text("--dir")), paths.project(paths.here()))
    for standing in deliver.standings(paths.project(paths.here())):
        says = f"{standing.called}: {standing.problem or 'can be used; `midwatch notify --test` tries it'}"
        yield DoctorFinding("warning" if standing.problem else "ok", "notices", visible(says))
    if waiting := outbox.pending(paths.directory(options.text("--dir"))):
        yield DoctorFinding("warning", "notices", visible(deliver.in_words(waiting)), "`midwatch notify --pending`")


def _publishing(directory: str, project: str) -> Iterator[DoctorFinding]:
    if broker_settings.named(project):
        from midwatch.notifications import mqtt_publish

        if broker := mqtt_publish.standing(project):
            says = f"{broker.called}: {broker.problem or 'named; `midwatch notify --test` tries it'}"
            yield DoctorFinding("warning" if broker.problem else "ok", "mqtt", visible(says))
    if (mark := mqtt_publish_state.marked(directory)) and mark.trouble:
        says = f"not everything is published: {mark.trouble}"
        yield DoctorFinding("warning", "mqtt", visible(says), "`midwatch notify --pending`")


def _agent_files() -> Iterator[DoctorFinding]:
    for agent, path in catalog.paths().items():
        own = not path.startswith(catalog.OURS)
        try:
            found = catalog.load(agent)
        except FormatError as error:
            yield DoctorFinding("wrong", agent, str(error))
            continue
        if own:
            yield DoctorFinding("note", agent, f"your own {path} ({len(found.rules)} rules) is used")


def _installed() -> Iterator[DoctorFinding]:
    for detector in _readable():
        there = installed.version(detector.agent)
        if there is None:
            continue
        path, version = there
        if not version:
            yield DoctorFinding("note", detector.agent, f"{path}: nothing tells its version")
        elif newer_than_tested(detector, version):
            yield DoctorFinding("warning", detector.agent, f"{version} {untested(detector)}: drift is possible")
        else:
            yield DoctorFinding("ok", detector.agent, f"{version} ({path})")


def _disbelieved() -> Iterator[DoctorFinding]:
    """Sources that have contradicted stronger ones too often."""
    reading = source_checks_store.read()
    if reading.trouble:
        mend = f"remove it, and everything is counted anew: {source_checks_store.path()}"
        yield DoctorFinding("warning", "sources", visible(f"{reading.trouble}; every source is believed"), mend)
    titles = {each.agent: each.title for each in _readable()}
    for release in reading.records:
        for record in release.claims:
            if (doubt := record.disbelief) is None:
                continue
            since = time.strftime("%Y-%m-%d %H:%M", time.localtime(doubt.since))
            says = worded(record.claim, doubt, titles.get(release.agent, release.agent), release.version)
            mend = f"`midwatch replay {doubt.evidence}` shows it" if os.path.exists(doubt.evidence) else ""
            yield DoctorFinding("warning", release.agent, visible(f"{says}, since {since}"), visible(mend))


def _readable() -> Iterator[Detector]:
    for agent in catalog.paths():
        try:
            yield catalog.load(agent)
        except FormatError:
            continue  # said above


def _refused(asked: list[str]) -> Iterator[DoctorFinding]:
    """Servers that are not asked, besides those that are looked at anyway: of this user, and of the list in force."""
    for socket in tmux_client.sockets():
        if socket not in asked and (why := tmux_client.refusal(socket)):
            yield DoctorFinding("warning", "tmux", why)
    try:
        from midwatch.registry import store as registry_store
    except ImportError:  # of PyYAML
        yield DoctorFinding("warning", "registry", "PyYAML is not installed, so no list of sessions can be read")
        return
    path = registry_store.nearest(os.path.realpath(os.environ.get("WORKSPACE_ROOT") or paths.here()))
    if not path:
        return
    try:
        refused = tmux_servers.refused(path, registry_store.RegistryFile(path).read().rows)
        for why in first_few(refused.values(), "tmux servers that are refused"):
            yield DoctorFinding("warning", "tmux", why)
    except MidwatchError as error:
        yield DoctorFinding("warning", "registry", str(error))


def _in_panes(options: Options) -> Iterator[DoctorFinding]:
    if not machine.has_tmux():
        says = "it is not installed; jobs are watched without it, agents in panes are not seen"
        yield DoctorFinding("note", "tmux", says, "install tmux")
        return
    try:
        servers = pane_arguments.servers(options)
        looks = find_agent.looks(servers)
        asked = [tmux_client.socket_path(server) for server in servers]
    except MidwatchError as error:
        yield DoctorFinding("wrong", "tmux", str(error))
        return
    yield from _refused(asked)
    named = options.flag("--all") or options.text("-L") or options.text("-S")
    here = tmux_client.socket_path(())
    if not named and not tmux_client.is_socket(here) and not tmux_client.refusal(here):
        yield DoctorFinding("note", "tmux", "no server runs here; agents in panes are seen once one does")
        return
    for looked in looks:
        if looked.trouble:
            yield DoctorFinding("warning", "tmux", looked.trouble)
            continue
        yield DoctorFinding("ok", "tmux", f"{len(looked.seen)} agents in panes")
        for seen in looked.seen:
            notes = [piece.says for piece in seen.verdict.against if piece.source == "note"]
            yield from (DoctorFinding("warning", f"{seen.sighting.agent} {seen.verdict.name}", note) for note in notes)
