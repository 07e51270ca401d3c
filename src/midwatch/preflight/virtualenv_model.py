"""What can be read of a virtual environment without running anything in it."""

from __future__ import annotations

from midwatch.core.value import Value

OWN, OTHER, GONE, ELSEWHERE = "own", "other", "gone", "elsewhere"
"""Where a script's interpreter is: in this environment, in another one, nowhere, in no environment at all."""


class Interpreter(Value):
    path: str
    """bin/python."""
    target: str
    """Where its links lead in the end, whether there is something or not."""
    trouble: str
    """Why it cannot be started; empty when it can."""
    version: str
    """Major and minor as the target's name has them; empty when it does not tell."""


class EnvironmentScript(Value):
    """One script of bin/."""

    name: str
    interpreter: str
    where: str
    """OWN, OTHER, GONE or ELSEWHERE."""
    lacks: str = ""
    """The module that it calls and that is not installed; empty when it is, or when it calls none."""


class InstalledPackage(Value):
    """What one dist-info (or egg-info) directory records."""

    name: str
    version: str
    lacks: tuple[str, ...] = ()
    """Files of METADATA and RECORD that are not there."""


class VirtualEnvironment(Value):
    path: str
    trouble: str = ""
    """Why there is nothing to look into; empty when there is."""
    config: dict[str, str] | None = None
    """pyvenv.cfg; None when it is missing."""
    home_there: bool = True
    """Whether the directory is there in which its Python lived when it was made."""
    interpreter: Interpreter = Interpreter("", "", "", "")
    libraries: tuple[str, ...] = ()
    """Versions for which it has a directory of packages."""
    made_at: str = ""
    """Another directory, for which it was made; empty when it was made here or nothing tells."""
    scripts: tuple[EnvironmentScript, ...] = ()
    packages: tuple[InstalledPackage, ...] = ()
    gone: tuple[tuple[str, str], ...] = ()
    """Who (a package, a .pth file) is told to find its code in a directory that is not there, and that directory."""
    unread: tuple[str, ...] = ()
    """What could not be read, and why."""


class EnvironmentOrigin(Value):
    """The files of a project from which its environment is made."""

    names: tuple[str, ...]
    pyproject: str
    requirements: dict[str, str]
    """Text of each requirements*.txt."""


class EnvironmentRecipe(Value):
    """How an environment is made again, with the optional parts that it had."""

    names: tuple[str, ...] = ()
    """Files of the project."""
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    """Options for parts of which nothing tells whether they were in it."""
