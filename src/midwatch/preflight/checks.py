"""What there is to look at: the checks that are built in, those of the settings, and how each is carried out.

The built-in ones run nothing of the project's: they read. Checks that run what a project brings (its interpreter, a
command) or speak to an address need its file's trust; without it they are not run, and say so.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from midwatch.config import trust
from midwatch.config.model import PreflightCheck, Settings
from midwatch.core import check_targets
from midwatch.core.value import Value
from midwatch.preflight import check_program, interpreter_probe, machine, reachability, virtualenv_reader
from midwatch.preflight.model import Finding
from midwatch.preflight.rules import findings as judge
from midwatch.preflight.rules import virtualenv as judge_environment
from midwatch.preflight.virtualenv_model import EnvironmentRecipe, VirtualEnvironment
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec.commands import OLDEST

LEAST_ROOM = "100MB"
LONGEST = 86400.0
"""Seconds: what the kernel can wait for in one go is not endless."""
RUNNING = (*trust.RUNNING, "tmux")
ENDING = 3.0
"""Seconds that ending a program may take beyond its time."""
SHELL = "/bin/sh"

Problem = Callable[[str], str]
"""Why the commands of a settings file may not be run; empty when they may."""


class CheckTask(Value):
    """One check, ready to be carried out in a thread of its own."""

    check: PreflightCheck
    do: Callable[[int], list[Finding]]
    """Carries it out, or gives up when the pipe that it is given is closed."""
    limit: float
    """Seconds after which nothing is expected any more."""
    runs: bool
    """It starts a program."""


def built_in_checks(project: str, state: str, settings: Settings) -> list[CheckTask]:
    """What is looked at in any project. An environment that the settings name is looked at there."""
    named = [os.path.join(project, check.target) for check in settings.checks if check.kind == "venv"]
    found = [
        path
        for path in virtualenv_reader.find_environments(project)
        if not any(virtualenv_reader.is_same_path(path, one) for one in named)
    ]
    tasks = [_environment_task(project, path) for path in found]
    tasks += [_disk_task("disk of the project", project), _disk_task("disk of the state directory", state)]
    if tmux_client.is_installed():
        oldest = ".".join(map(str, OLDEST))
        tasks.append(_settings_task(project, PreflightCheck("tmux", oldest, "tmux"), ""))
    return tasks


def configured_checks(project: str, settings: Settings, problem: Problem) -> list[CheckTask]:
    barred = {source: find_trust_problem(source, problem) for source in {check.source for check in settings.checks}}
    return [_settings_task(project, check, barred[check.source]) for check in settings.checks]


def find_trust_problem(source: str, problem: Problem) -> str:
    """Why the commands of the file at a source (`path:line`) may not be run; those that are ours may."""
    path, _, line = source.rpartition(":")
    return problem(path if line.isdecimal() else source) if source else ""


def format_error(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def _build_task(check: PreflightCheck, do: Callable[[int], list[Finding]]) -> CheckTask:
    runs = check.kind in RUNNING
    return CheckTask(check, do, min(check.timeout_s, LONGEST) + (ENDING if runs else 0.0), runs)


def _environment_task(project: str, path: str) -> CheckTask:
    name = _short_path(project, path)
    check = PreflightCheck("venv", path, name)

    def do(_: int) -> list[Finding]:
        seen = virtualenv_reader.read_environment(path)
        advice = judge.rebuild_command(
            name, judge_environment.build_recipe(virtualenv_reader.find_origin(project), seen.packages)
        )
        return [
            judge.build_finding(
                check._replace(name=f"{name} {aspect.name}"), "; ".join(aspect.troubles) or aspect.says,
                ok=not aspect.troubles, advice=advice,
            )
            for aspect in judge_environment.list_aspects(seen)
        ]  # fmt: skip

    return CheckTask(check, do, check.timeout_s, runs=False)


def _settings_task(project: str, check: PreflightCheck, problem: str) -> CheckTask:
    look = _SettingsCheck(project, check, problem)
    carried_out: dict[str, Callable[[int], Finding]] = {
        "module": look.imported, "package": look.imported, "venv": look.environment, "command": look.command,
        "http": look.http, "tcp": look.tcp, "env": look.variable, "tmux": look.tmux, "run": look.run,
        "disk": look.disk,
    }  # fmt: skip
    return _build_task(check, lambda cancel: [carried_out[check.kind](cancel)])


def _disk_task(name: str, path: str) -> CheckTask:
    check = PreflightCheck("disk", LEAST_ROOM, name)

    def do(_: int) -> list[Finding]:
        place = machine.nearest_directory(path)  # the state directory may still have to be made
        return [judge.disk_finding(check, check_targets.parse_size(LEAST_ROOM), place, machine.measure_space(place))]

    return _build_task(check, do)


def _short_path(project: str, path: str) -> str:
    return os.path.relpath(path, project) if path.startswith(f"{project}/") else path


class _SettingsCheck:
    """One check of the settings."""

    def __init__(self, project: str, check: PreflightCheck, problem: str) -> None:
        self.project = project
        self.check = check
        self.problem = problem
        self.limit = min(check.timeout_s, LONGEST)

    def environment(self, cancel: int) -> Finding:
        path = os.path.join(self.project, self.check.target)
        seen = virtualenv_reader.read_environment(path)
        aspects = judge_environment.list_aspects(seen)
        troubles = [trouble for aspect in aspects for trouble in aspect.troubles]
        if self.problem:
            troubles.append(f"its Python was not started: {self.problem}")
        elif not seen.trouble and not seen.interpreter.trouble:
            told = interpreter_probe.probe_interpreter(
                seen.interpreter.path, interpreter_probe.ITSELF, "", self.project, self.limit, cancel
            )
            troubles += judge_environment.reply_problems(seen, told)
        says = "; ".join(troubles) or ", ".join(aspect.says for aspect in aspects)
        ran = not (self.problem and len(troubles) == 1)  # else its files tell that it is broken
        advice = self._advice(judge.rebuild_command, seen) if ran else ""
        return judge.build_finding(self.check, says, ok=not troubles, advice=advice, ran=ran)

    def imported(self, cancel: int) -> Finding:
        if self.problem:
            return judge.untrusted_finding(self.check, self.problem)
        found = [self.check.venv] if self.check.venv else virtualenv_reader.find_environments(self.project)
        if not found:
            says = "there is no .venv in the project, nor does the check name another with `venv`"
            none = VirtualEnvironment(f"{self.project}/.venv")
            return judge.build_finding(
                self.check, says, ok=False, advice=self._advice(judge.rebuild_command, none), ran=False
            )
        path = os.path.join(self.project, found[0])
        seen = virtualenv_reader.read_environment(path)
        if trouble := seen.trouble or seen.interpreter.trouble:
            return judge.build_finding(
                self.check, trouble, ok=False, advice=self._advice(judge.rebuild_command, seen), ran=False
            )
        told = interpreter_probe.probe_interpreter(
            seen.interpreter.path, self.check.kind, self.check.target, self.project, self.limit, cancel
        )
        judged = judge.module_finding if self.check.kind == "module" else judge.package_finding
        return judged(self.check, told, self._advice(judge.install_command, seen))

    def _advice(self, how: Callable[[str, EnvironmentRecipe], str], seen: VirtualEnvironment) -> str:
        made = judge_environment.build_recipe(virtualenv_reader.find_origin(self.project), seen.packages)
        return how(_short_path(self.project, seen.path), made)

    def command(self, _: int) -> Finding:
        return judge.program_finding(self.check, *machine.find_program(self.check.target, self.project))

    def http(self, _: int) -> Finding:
        if self.problem:
            return judge.untrusted_finding(self.check, self.problem)
        return judge.address_finding(self.check, reachability.request_http(self.check.target, self.limit))

    def tcp(self, _: int) -> Finding:
        if self.problem:
            return judge.untrusted_finding(self.check, self.problem)
        return judge.address_finding(
            self.check, reachability.connect_tcp(*check_targets.parse_address(self.check.target), self.limit)
        )

    def disk(self, _: int) -> Finding:
        needed, given = check_targets.parse_disk(self.check.target)
        place = os.path.join(self.project, os.path.expanduser(given)) if given else self.project
        return judge.disk_finding(self.check, needed, place, machine.measure_space(place))

    def variable(self, _: int) -> Finding:
        name, wanted = check_targets.parse_variable(self.check.target)
        return judge.variable_finding(self.check, name, wanted, machine.read_variable(name))

    def tmux(self, cancel: int) -> Finding:
        there = machine.tmux_version(self.project, self.limit, cancel) if tmux_client.is_installed() else None
        return judge.tmux_finding(self.check, self.check.target, there)

    def run(self, cancel: int) -> Finding:
        if self.problem:
            return judge.untrusted_finding(self.check, self.problem)
        return judge.command_finding(
            self.check, check_program.run([SHELL, "-c", self.check.target], self.project, self.limit, cancel)
        )
