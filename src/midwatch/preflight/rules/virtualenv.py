"""What is wrong with a virtual environment: its Python, its place, its scripts, its packages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from midwatch.core.value import Value
from midwatch.preflight.codec import dependencies
from midwatch.preflight.codec.virtualenv import config_version, minor_version
from midwatch.preflight.model import InterpreterReply
from midwatch.preflight.virtualenv_model import (
    GONE,
    OTHER,
    OWN,
    EnvironmentOrigin,
    EnvironmentRecipe,
    EnvironmentScript,
    InstalledPackage,
    VirtualEnvironment,
)

NAMED = 3
"""Scripts or packages that are named where many have the same fault."""


class EnvironmentAspect(Value):
    """One side of an environment."""

    name: str
    troubles: tuple[str, ...]
    says: str
    """What is there, when there is no trouble."""


def list_aspects(seen: VirtualEnvironment) -> list[EnvironmentAspect]:
    if seen.trouble:
        return [EnvironmentAspect("python", (seen.trouble,), "")]
    version = seen.interpreter.version or config_version(seen.config or {})
    return [
        EnvironmentAspect("python", (*seen.unread, *_python_problems(seen)), f"Python {version or 'of some version'}"),
        EnvironmentAspect("place", tuple(_place_problems(seen)), "where it was made"),
        EnvironmentAspect("scripts", tuple(_script_problems(seen.scripts)), _format_count(len(seen.scripts), "script")),
        EnvironmentAspect("packages", tuple(_package_problems(seen)), _format_count(len(seen.packages), "package")),
    ]


def build_recipe(origin: EnvironmentOrigin, packages: Iterable[InstalledPackage]) -> EnvironmentRecipe:
    """How to make an environment again so that no optional part is lost which has its packages installed."""
    there = {dependencies.normalize_name(package.name) for package in packages}
    told = dependencies.parse_pyproject(origin.pyproject)
    groups = {key: names for key, names in told.groups.items() if key not in told.unasked}
    files = {name: dependencies.parse_requirements(text) for name, text in origin.requirements.items()}
    if not there:
        offered = (*(f"--extra {key}" for key in told.extras), *(f"--group {key}" for key in groups))
        return EnvironmentRecipe(origin.names, requirements=_main_requirements(files), offered=offered)
    had = [name for name, names in files.items() if names and names <= there]
    return EnvironmentRecipe(
        origin.names,
        tuple(key for key, names in told.extras.items() if names - told.base and names <= there),
        tuple(key for key, names in groups.items() if names - told.base and names <= there),
        tuple(had) or _main_requirements(files),
    )


def _main_requirements(files: dict[str, frozenset[str]]) -> tuple[str, ...]:
    return ("requirements.txt",) if "requirements.txt" in files else tuple(files)[:1]


def reply_problems(seen: VirtualEnvironment, told: InterpreterReply) -> Iterator[str]:
    """What its interpreter said when it was started, beside what its files say."""
    if told.error:
        yield f"its Python {told.error}"
        return
    wanted = config_version(seen.config or {})
    if wanted and minor_version(told.python) != wanted:
        yield f"it was made for Python {wanted}, but its Python says that it is {told.python}"


def _python_problems(seen: VirtualEnvironment) -> Iterator[str]:
    if seen.interpreter.trouble:
        yield seen.interpreter.trouble
    if seen.config is None:
        yield "pyvenv.cfg is missing: its Python does not know that it is in an environment, nor its packages"
        return
    if not seen.home_there:
        yield f"the Python that it was made from is gone: there is no {seen.config['home']}"
    wanted, runs = config_version(seen.config), seen.interpreter.version
    if wanted and runs and wanted != runs:
        yield f"it was made for Python {wanted}, but bin/python is {runs} now, which does not see its packages"
    elif (version := runs or wanted) and version not in seen.libraries:
        there = f"; there is lib/python{', lib/python'.join(seen.libraries)}" if seen.libraries else ""
        yield f"it has no lib/python{version}/site-packages for its Python{there}"


def _place_problems(seen: VirtualEnvironment) -> Iterator[str]:
    if seen.made_at:
        yield f"it was moved or copied: it was made at {seen.made_at}, and activating it still leads there"


def _script_problems(scripts: Iterable[EnvironmentScript]) -> Iterator[str]:
    faults: dict[tuple[str, str], list[str]] = {}
    for script in scripts:
        if script.where in (GONE, OTHER):
            faults.setdefault((script.where, script.interpreter), []).append(script.name)
        elif script.lacks and script.where == OWN:
            faults.setdefault(("", script.lacks), []).append(script.name)
    for (where, what), names in faults.items():
        who = _join_some(names)
        if where == GONE:
            yield f"{who}: bad interpreter, {what or 'none named'} is not there"
        elif where == OTHER:
            yield f"{who}: run by {what}, another environment that still exists, with its packages and not with these"
        else:
            yield f"{who}: {what}, which it calls, is not installed here"


def _package_problems(seen: VirtualEnvironment) -> Iterator[str]:
    versions: dict[str, list[str]] = {}
    lacking: dict[str, list[str]] = {}
    for package in seen.packages:
        versions.setdefault(package.name.lower().replace("-", "_").replace(".", "_"), []).append(package.version)
        for file in package.lacks:
            lacking.setdefault(file, []).append(package.name)
    for file, names in lacking.items():
        yield f"{_join_some(names)}: no {file}, so an install was cut short or damaged"
    for name, several in versions.items():
        if len(several) > 1:
            yield f"{name} is recorded {len(several)} times: {', '.join(several)}"
    sources = [place for who, place in seen.gone if not _is_file(who)]
    for who, place in dict.fromkeys(seen.gone):
        if not _is_file(who):
            yield f"{who} is installed in place from {place}, which is gone"
        elif not any(place == source or place.startswith(f"{source}/") for source in sources):
            yield f"{who} leads to {place}, which is gone"


def _is_file(who: str) -> bool:
    return who.endswith((".pth", ".py"))


def _join_some(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _format_count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
