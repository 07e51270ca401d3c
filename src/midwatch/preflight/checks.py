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
from midwatch.preflight.virtualenv_model import Environment, EnvironmentRecipe
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


def built_in(project: str, state: str, settings: Settings) -> list[CheckTask]:
    """What is looked at in any project. An environment that the settings name is looked at there."""
    named = [os.path.join(project, check.target) for check in settings.checks if check.kind == "venv"]
    found = [
        path
        for path in virtualenv_reader.in_project(project)
        if not any(virtualenv_reader.same(path, one) for one in named)
    ]
    tasks = [_environment(project, path) for path in found]
    tasks += [_disk("disk of the project", project), _disk("disk of the state directory", state)]
    if machine.has_tmux():
        oldest = ".".join(map(str, OLDEST))
        tasks.append(_configured(project, PreflightCheck("tmux", oldest, "tmux"), ""))
    return tasks


def configured(project: str, settings: Settings, problem: Problem) -> list[CheckTask]:
    barred = {source: problem_of(source, problem) for source in {check.source for check in settings.checks}}
    return [_configured(project, check, barred[check.source]) for check in settings.checks]


def problem_of(source: str, problem: Problem) -> str:
    """Why the commands of the file at a source (`path:line`) may not be run; those that are ours may."""
    path, _, line = source.rpartition(":")
    return problem(path if line.isdecimal() else source) if source else ""


def words_of(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def _task(check: PreflightCheck, do: Callable[[int], list[Finding]]) -> CheckTask:
    runs = check.kind in RUNNING
    return CheckTask(check, do, min(check.timeout_s, LONGEST) + (ENDING if runs else 0.0), runs)


def _environment(project: str, path: str) -> CheckTask:
    name = _shown(project, path)
    check = PreflightCheck("venv", path, name)

    def do(_: int) -> list[Finding]:
        seen = virtualenv_reader.read(path)
        advice = judge.rebuild(name, judge_environment.recipe(virtualenv_reader.origin(project), seen.packages))
        return [
            judge.finding(
                check._replace(name=f"{name} {aspect.name}"), "; ".join(aspect.troubles) or aspect.says,
                ok=not aspect.troubles, advice=advice,
            )
            for aspect in judge_environment.aspects(seen)
        ]  # fmt: skip

    return CheckTask(check, do, check.timeout_s, runs=False)


def _configured(project: str, check: PreflightCheck, problem: str) -> CheckTask:
    look = _SettingsCheck(project, check, problem)
    carried_out: dict[str, Callable[[int], Finding]] = {
        "module": look.imported, "package": look.imported, "venv": look.environment, "command": look.command,
        "http": look.http, "tcp": look.tcp, "env": look.variable, "tmux": look.tmux, "run": look.run,
        "disk": look.disk,
    }  # fmt: skip
    return _task(check, lambda cancel: [carried_out[check.kind](cancel)])


def _disk(name: str, path: str) -> CheckTask:
    check = PreflightCheck("disk", LEAST_ROOM, name)

    def do(_: int) -> list[Finding]:
        place = machine.nearest(path)  # the state directory may still have to be made
        return [judge.room(check, check_targets.size(LEAST_ROOM), place, machine.space(place))]

    return _task(check, do)


def _shown(project: str, path: str) -> str:
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
        seen = virtualenv_reader.read(path)
        aspects = judge_environment.aspects(seen)
        troubles = [trouble for aspect in aspects for trouble in aspect.troubles]
        if self.problem:
            troubles.append(f"its Python was not started: {self.problem}")
        elif not seen.trouble and not seen.interpreter.trouble:
            told = interpreter_probe.ask(
                seen.interpreter.path, interpreter_probe.ITSELF, "", self.project, self.limit, cancel
            )
            troubles += judge_environment.answer(seen, told)
        says = "; ".join(troubles) or ", ".join(aspect.says for aspect in aspects)
        ran = not (self.problem and len(troubles) == 1)  # else its files tell that it is broken
        advice = self._advice(judge.rebuild, seen) if ran else ""
        return judge.finding(self.check, says, ok=not troubles, advice=advice, ran=ran)

    def imported(self, cancel: int) -> Finding:
        if self.problem:
            return judge.barred(self.check, self.problem)
        found = [self.check.venv] if self.check.venv else virtualenv_reader.in_project(self.project)
        if not found:
            says = "there is no .venv in the project, nor does the check name another with `venv`"
            none = Environment(f"{self.project}/.venv")
            return judge.finding(self.check, says, ok=False, advice=self._advice(judge.rebuild, none), ran=False)
        path = os.path.join(self.project, found[0])
        seen = virtualenv_reader.read(path)
        if trouble := seen.trouble or seen.interpreter.trouble:
            return judge.finding(self.check, trouble, ok=False, advice=self._advice(judge.rebuild, seen), ran=False)
        told = interpreter_probe.ask(
            seen.interpreter.path, self.check.kind, self.check.target, self.project, self.limit, cancel
        )
        judged = judge.module if self.check.kind == "module" else judge.package
        return judged(self.check, told, self._advice(judge.install, seen))

    def _advice(self, how: Callable[[str, EnvironmentRecipe], str], seen: Environment) -> str:
        made = judge_environment.recipe(virtualenv_reader.origin(self.project), seen.packages)
        return how(_shown(self.project, seen.path), made)

    def command(self, _: int) -> Finding:
        return judge.command(self.check, *machine.program(self.check.target, self.project))

    def http(self, _: int) -> Finding:
        if self.problem:
            return judge.barred(self.check, self.problem)
        return judge.reached(self.check, reachability.http_get(self.check.target, self.limit))

    def tcp(self, _: int) -> Finding:
        if self.problem:
            return judge.barred(self.check, self.problem)
        return judge.reached(self.check, reachability.tcp(*check_targets.address(self.check.target), self.limit))

    def disk(self, _: int) -> Finding:
        needed, given = check_targets.disk(self.check.target)
        place = os.path.join(self.project, os.path.expanduser(given)) if given else self.project
        return judge.room(self.check, needed, place, machine.space(place))

    def variable(self, _: int) -> Finding:
        name, wanted = check_targets.variable(self.check.target)
        return judge.variable(self.check, name, wanted, machine.variable(name))

    def tmux(self, cancel: int) -> Finding:
        there = machine.tmux_version(self.project, self.limit, cancel) if machine.has_tmux() else None
        return judge.tmux(self.check, self.check.target, there)

    def run(self, cancel: int) -> Finding:
        if self.problem:
            return judge.barred(self.check, self.problem)
        return judge.ran(
            self.check, check_program.run([SHELL, "-c", self.check.target], self.project, self.limit, cancel)
        )
