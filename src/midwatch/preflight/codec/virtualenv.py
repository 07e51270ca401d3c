"""Files of virtual environments, as venv, virtualenv, uv, pip, setuptools and their like write them."""

from __future__ import annotations

import ast
import json
import re
import shlex
from urllib.parse import unquote, urlsplit

MINOR = re.compile(r"(\d+\.\d+)(?:\.|$)")
NAMED = re.compile(r"(?:python|pypy)(\d+\.\d+)t?$")
ACTIVATES = re.compile(r"^[ \t]*(?:export[ \t]+)?VIRTUAL_ENV=(.*)$", re.MULTILINE)
SECOND_LINE = "'''exec'"
BESIDE = re.compile(r"""\$\(dirname .*\)"?/'?([^'"\s]+)""")
CALLS = re.compile(r"^(?:from ([\w.]+) import|import ([\w.]+)$)", re.MULTILINE)
REDIRECTS = re.compile(r"""map_module\((['"])([^'"\n]{1,999})\1, (['"])([^'"\n]{1,9999})\3\)""")
RECORDED = re.compile(r"([^~].*?)(?:-([^-]+))?(?:-py[\d.]+)?\.(?:dist|egg)-info$")
"""A leading tilde is pip's: what an uninstall that was interrupted left."""


def parse_config(text: str) -> dict[str, str]:
    """Pyvenv.cfg: keys in lower case."""
    pairs = [line.partition("=") for line in text.splitlines()]
    return {key.strip().lower(): value.strip() for key, equals, value in pairs if equals}


def minor_version(version: str) -> str:
    """Major and minor of a version; empty when it is none."""
    found = MINOR.match(version.strip())
    return found[1] if found else ""


def config_version(config: dict[str, str]) -> str:
    """Major and minor of the Python that an environment was made for; empty when its settings do not say."""
    return minor_version(config.get("version_info") or config.get("version") or "")


def parse_version(name: str) -> str:
    """Major and minor in the name of an interpreter or of a library directory; empty when it has none."""
    found = NAMED.match(name)
    return found[1] if found else ""


def activated_directory(text: str) -> str:
    """The directory that an `activate` script was written for; empty when it finds out by itself."""
    for found in ACTIVATES.finditer(text):
        value = _first_word(found[1])
        if value.startswith("/") and "$" not in value:
            return value
    return ""


def script_interpreter(script: str, directory: str) -> str | None:
    """The interpreter that a script in a directory begins with; None when it is no script.

    A path that is too long for the kernel or has blanks stands in a second line, which a shell reads; there it may
    also be relative to the script.
    """
    if not script.startswith("#!"):
        return None
    first, _, rest = script[2:].partition("\n")
    words = first.split()
    second = rest.partition("\n")[0].strip()
    if not words:
        return ""
    if words[0].endswith("/sh") and second.startswith(SECOND_LINE):
        beside = BESIDE.search(second)
        return f"{directory}/{beside[1]}" if beside else _first_word(second[len(SECOND_LINE) :])
    return words[0]


def called_module(script: str) -> str:
    """The module that a console script calls; empty when it is not one."""
    if "sys.exit(" not in script:
        return ""
    found = [one or other for one, other in CALLS.findall(script)]
    return next((module for module in found if module not in ("sys", "re")), "")


def parse_search_paths(pth: str) -> list[str]:
    """Directories that a .pth file adds."""
    lines = [line.strip() for line in pth.splitlines()]
    return [line for line in lines if line and not line.startswith(("#", "import ", "import\t"))]


def parse_redirects(finder: str) -> dict[str, str]:
    """Modules that the finder of an editable install looks for elsewhere, and where."""
    found = {module: place for _, module, _, place in REDIRECTS.findall(finder)}
    try:
        body = ast.parse(finder).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last for brackets within brackets
        return found
    for statement in body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id="MAPPING")], value=value)
                | ast.AnnAssign(target=ast.Name(id="MAPPING"), value=ast.expr() as value)
            ):
                found |= _to_texts(value)
            case _:
                pass
    return found


def _to_texts(value: ast.expr) -> dict[str, str]:
    try:
        told = ast.literal_eval(value)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return {}
    return (
        {k: v for k, v in told.items() if isinstance(k, str) and isinstance(v, str)} if isinstance(told, dict) else {}
    )


def editable_directory(direct_url: str) -> str:
    """The directory that a package was installed from in place; empty when it was not."""
    try:
        about = json.loads(direct_url)
        if about["dir_info"]["editable"] is not True:
            return ""
        url = urlsplit(str(about["url"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return unquote(url.path) if url.scheme == "file" else ""


def parse_package_name(directory: str) -> tuple[str, str] | None:
    """Name and version of the package that a directory of site-packages records; None when it records none."""
    found = RECORDED.match(directory)
    return (found[1], found[2] or "") if found else None


def _first_word(text: str) -> str:
    try:
        return next(iter(shlex.split(text, comments=True)), "")
    except ValueError:
        return ""
