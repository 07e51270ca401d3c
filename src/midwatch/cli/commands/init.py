"""`midwatch init`: a midwatch.toml for this project, in which every line is a comment; or a user's first channel."""

from __future__ import annotations

import json
import os

from midwatch.agents import catalog, installed_version
from midwatch.cli import output
from midwatch.cli.parser import Options
from midwatch.config import load, paths
from midwatch.config.codec.starter_file import ProjectFindings, format_starter
from midwatch.core.errors import FormatError, MidwatchError, RefusedError, UsageError
from midwatch.core.foreign_text import escape_text
from midwatch.core.json_text import dump
from midwatch.system.atomic_files import write_new


def main(options: Options) -> int:
    if options.names:
        raise UsageError("init takes no names; it writes midwatch.toml in the root of this project")
    if url := options.text("--notify"):
        return _write_channel(url, options)
    project = paths.project_root(paths.current_directory())
    path, found = load.project_file(project), _find_parts(project)
    text = format_starter(found)
    if options.flag("--dry-run"):
        print(text, end="")
        return 0
    try:
        write_new(path, text)
        os.chmod(path, 0o666 & ~_current_umask())  # it is the project's file, for all who work there
    except FileExistsError:
        raise RefusedError(f"{path} is there already; `midwatch init --dry-run` prints what would be written") from None
    except OSError as error:
        raise RefusedError(f"{path} could not be written: {error.strerror}") from error
    if options.flag("--json"):
        print(dump({"schema": 1, "path": path, **found._asdict()}, spaced=True))
        return 0
    print(f"wrote {escape_text(path)}; each line is a comment until you remove its #")
    print(f"agents  {', '.join(found.agents) or 'none found in PATH'}")
    print(f"tests   {found.tests or 'no command found'}")
    print(f"tasks   {found.tracker or 'none yet; `midwatch task add TITLE` begins a list'}")
    output.print_remark("next: `midwatch doctor` shows what works here and what is missing")
    return 0


def _write_channel(url: str, options: Options) -> int:
    """The user's own settings, where there are none yet, with a service that is told."""
    from midwatch.config.codec.command_template import check_url

    try:
        text = f"[notify]\nurls = [{json.dumps(check_url(url), ensure_ascii=False)}]\n"
    except FormatError as error:
        raise UsageError(f"--notify: {error}") from None
    if options.flag("--dry-run"):
        print(text, end="")
        return 0
    path = load.user_file()
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        write_new(path, text)
    except FileExistsError:
        lines = text.replace("\n", "  ").strip()
        raise RefusedError(f"{path} is there already; add the channel to it by hand: {lines}") from None
    except OSError as error:
        raise RefusedError(f"{path} could not be written: {error.strerror}") from error
    if options.flag("--json"):
        print(dump({"schema": 1, "path": path}, spaced=True))
        return 0
    print(f"wrote {escape_text(path)}, which only you may read")
    output.print_remark("next: `midwatch notify --test hello` sends a message; urls need the extra `notify`")
    return 0


def _find_parts(project: str) -> ProjectFindings:
    from midwatch.trackers.select import find_tracker
    from midwatch.verification.project_tests import find_test_command

    agents = {}
    for detector in catalog.load_all():
        if there := installed_version.find_version(detector.agent):
            agents[detector.agent] = f"{detector.title} {there[1]}".rstrip()
    try:
        tracker = find_tracker(project).kind
    except MidwatchError:  # of settings that are wrong, or a tracker outside of the project: doctor tells
        tracker = "tasks"
    return ProjectFindings(
        tuple(agents.values()), next(iter(agents), ""), find_test_command(project),
        "" if tracker == "tasks" else tracker,
    )  # fmt: skip


def _current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
