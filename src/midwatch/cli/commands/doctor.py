"""`midwatch doctor`: whether everything is there that Midwatch needs, and what it has not been tested with."""

import os
import sys
import time
from collections.abc import Iterator

from midwatch import __version__
from midwatch.cli import context, pane_arguments
from midwatch.cli.commands.doctor_agents import DoctorFinding, agent_findings
from midwatch.cli.parser import Options
from midwatch.config import load as files_of_settings
from midwatch.config import paths, trust
from midwatch.config.model import Settings
from midwatch.core.errors import FormatError, MidwatchError, RefusedError, UsageError
from midwatch.core.json_text import dump
from midwatch.core.text import first_few, visible
from midwatch.integrations.mqtt import broker_settings
from midwatch.jobs import launch, start
from midwatch.notifications import held_back, mqtt_publish_state
from midwatch.registry import tmux_servers
from midwatch.sessions import find_agent
from midwatch.system import capabilities, inotify
from midwatch.tmux import client as tmux_client

OLDEST = (3, 11)
VERSION_SECONDS = 5.0
REFUSES = "`midwatch run` refuses to start until then"
SIGNS = {"ok": ("32", "ok"), "note": ("2", "note"), "warning": ("33", "warning"), "wrong": ("31", "WRONG")}


def main(options: Options) -> int:
    if options.names:
        raise UsageError("doctor takes no names")
    worst = 0
    for found in _all_findings(options):
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


def _all_findings(options: Options) -> Iterator[DoctorFinding]:
    try:
        paths.current_directory()
    except RefusedError as error:
        yield DoctorFinding("wrong", "directory", str(error), REFUSES)
        return
    for about in (_system_findings, _settings_findings, _notification_findings):
        yield from about(options)
    yield from _pane_findings(options)
    yield from agent_findings()


def _system_findings(options: Options) -> Iterator[DoctorFinding]:
    here = ".".join(map(str, sys.version_info[:3]))
    enough = sys.version_info[:2] >= OLDEST
    yield DoctorFinding("ok" if enough else "wrong", "python", here if enough else f"{here}; 3.11 or newer is needed")
    yield DoctorFinding("ok", "midwatch", f"{__version__} ({launch.ROOT}/midwatch)")
    if not all(map(os.path.isabs, os.environ.get("PYTHONPATH", "/").split(os.pathsep))):
        says = "PYTHONPATH has an empty or relative entry: Python runs modules of the directory in which you call it"
        mend = "name whole paths: export PYTHONPATH=${PYTHONPATH:+$PYTHONPATH:}/DIR"
        yield DoctorFinding("warning", "python", says, mend)
    directory = paths.sentinel_directory(options.text("--dir"))
    if few := start.find_descriptor_problem():
        yield DoctorFinding("wrong", "open files", few, REFUSES)
    if why := paths.predict_problem(directory):
        yield DoctorFinding("wrong", "state directory", why, REFUSES)
    elif hidden := inotify.find_event_problem(directory):
        says = f"{directory}: {hidden}; it is looked at every 2 s instead"
        yield DoctorFinding("warning", "state directory", says, "set MIDWATCH_HOME to a directory on a local disk")
    else:
        yield DoctorFinding("ok", "state directory", directory)
    for limit in capabilities.find_limits(directory):
        yield DoctorFinding("warning" if limit.harmful else "note", limit.about, limit.says, limit.mend)


def _settings_findings(options: Options) -> Iterator[DoctorFinding]:
    """The settings as `run` takes them: files, variables, and its checks where it makes them before each start."""
    project = paths.project_root(paths.current_directory())
    try:
        found = files_of_settings.load(project)
    except FormatError as error:
        yield DoctorFinding("wrong", "settings", str(error), f"mend that line; {REFUSES}")
        return
    if paths.is_planted(path := files_of_settings.project_file(project)):
        says = f"{path} belongs to another user and lies where everybody can make files; it does not count"
        yield DoctorFinding("note", "settings", says, "work in a directory of your own, with settings of its own")
    for path in found.files:
        problem = trust.find_problem(path) if trust.needs_trust_at_all(path) else ""
        yield DoctorFinding("note" if problem else "ok", "settings", problem or path)
    if not found.files:
        yield DoctorFinding("note", "settings", "none; the defaults count", "`midwatch init` writes a midwatch.toml")
    try:
        context.read_policy(Options("run"))
        given = context.read_settings(Options("run"))
    except UsageError as error:
        yield DoctorFinding("wrong", "settings", str(error), REFUSES)
        return
    if given.preflight:
        yield from _check_findings(project, given, paths.sentinel_directory(options.text("--dir")))


def _check_findings(project: str, given: Settings, state: str) -> Iterator[DoctorFinding]:
    from midwatch.preflight import run

    found = run.run_checks(project, given, state=state)
    for each in found:
        if not each.ok:
            yield DoctorFinding("wrong", "preflight", visible(f"{each.name}: {each.says}"), REFUSES)
    if not run.format_summary(found):
        yield DoctorFinding("ok", "preflight", run.format_counts(found))


def _notification_findings(options: Options) -> Iterator[DoctorFinding]:
    from midwatch.notifications import deliver

    yield from _broker_findings(
        paths.sentinel_directory(options.text("--dir")), paths.project_root(paths.current_directory())
    )
    statuses = deliver.channel_statuses(paths.project_root(paths.current_directory()))
    if not statuses:
        says = "no channel: only `midwatch ls` and `midwatch wait` say what becomes of work"
        mend = "`midwatch init --notify ntfy://TOPIC`, then `midwatch notify --test hello`"
        yield DoctorFinding("note", "notices", says, mend)
    for standing in statuses:
        says = f"{standing.called}: {standing.problem or 'can be used; `midwatch notify --test` tries it'}"
        yield DoctorFinding("warning" if standing.problem else "ok", "notices", visible(says))
    if waiting := held_back.list_undelivered(paths.sentinel_directory(options.text("--dir"))):
        yield DoctorFinding(
            "warning", "notices", visible(deliver.format_waiting(waiting)), "`midwatch notify --pending`"
        )


def _broker_findings(directory: str, project: str) -> Iterator[DoctorFinding]:
    if broker_settings.is_configured(project):
        from midwatch.notifications import mqtt_publish

        if broker := mqtt_publish.broker_status(project):
            says = f"{broker.called}: {broker.problem or 'named; `midwatch notify --test` tries it'}"
            yield DoctorFinding("warning" if broker.problem else "ok", "mqtt", visible(says))
    if (mark := mqtt_publish_state.read_mark(directory)) and mark.trouble:
        says = f"not everything is published: {mark.trouble}"
        yield DoctorFinding("warning", "mqtt", visible(says), "`midwatch notify --pending`")


def _refused_server_findings(asked: list[str]) -> Iterator[DoctorFinding]:
    """Servers that are not asked, besides those that are looked at anyway: of this user, and of the list in force."""
    for socket in tmux_client.list_sockets():
        if socket not in asked and (why := tmux_client.find_refusal(socket)):
            yield DoctorFinding("warning", "tmux", why)
    try:
        from midwatch.registry import store as registry_store
    except ImportError:  # of PyYAML
        yield DoctorFinding("warning", "registry", "PyYAML is not installed, so no list of sessions can be read")
        return
    path = registry_store.nearest_registry(
        os.path.realpath(os.environ.get("WORKSPACE_ROOT") or paths.current_directory())
    )
    if not path:
        return
    try:
        refused = tmux_servers.refused_servers(path, registry_store.RegistryFile(path).read().rows)
        for why in first_few(refused.values(), "tmux servers that are refused"):
            yield DoctorFinding("warning", "tmux", why)
    except MidwatchError as error:
        yield DoctorFinding("warning", "registry", str(error))


def _pane_findings(options: Options) -> Iterator[DoctorFinding]:
    if not tmux_client.is_installed():
        says = "it is not installed; jobs are watched without it, agents in panes are not seen"
        yield DoctorFinding("note", "tmux", says, "install tmux: `apt install tmux`, or as your system has it")
        return
    version = tmux_client.client_version(time.monotonic() + VERSION_SECONDS) or "tmux that does not tell its version"
    try:
        servers = pane_arguments.servers(options)
        looks = find_agent.observe_servers(servers)
        asked = [tmux_client.socket_path(server) for server in servers]
    except MidwatchError as error:
        yield DoctorFinding("wrong", "tmux", str(error))
        return
    yield from _refused_server_findings(asked)
    named = options.flag("--all") or options.text("-L") or options.text("-S")
    here = tmux_client.socket_path(())
    if not named and not tmux_client.is_socket(here) and not tmux_client.find_refusal(here):
        yield DoctorFinding("ok", "tmux", f"{version}; no server runs here yet")
        return
    for looked in looks:
        if looked.trouble:
            yield DoctorFinding("warning", "tmux", looked.trouble)
            continue
        yield DoctorFinding("ok", "tmux", f"{version}; agents in panes: {len(looked.seen)}")
        for seen in looked.seen:
            notes = [piece.says for piece in seen.verdict.against if piece.source == "note"]
            yield from (DoctorFinding("warning", f"{seen.sighting.agent} {seen.verdict.name}", note) for note in notes)
