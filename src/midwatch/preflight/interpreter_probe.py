"""What an environment's own Python says: of itself, of a module, of a package.

It runs isolated (-I): the current directory, PYTHONPATH and the user's own packages do not count, as they do not count
for what a console script finds. So a module passes because it is installed there and not because a test was run from
the right directory.
"""

from __future__ import annotations

import json
import os

from midwatch.core.foreign_text import ForeignText
from midwatch.core.program_result import ProgramResult
from midwatch.core.text import format_duration, signal_name
from midwatch.preflight import check_program
from midwatch.preflight.model import InterpreterReply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ITSELF, MODULE, PACKAGE = "itself", "module", "package"
ASK = r"""
import json, sys
mark, kind, name = sys.argv[1:]
told = {"python": "%d.%d.%d" % tuple(sys.version_info[:3]), "prefix": sys.prefix}

BESIDES = ("test", "tests", "doc", "docs", "examples", "benchmarks")

def take(module):
    import importlib
    found = importlib.import_module(module)
    own = getattr(found, "__file__", None)
    ways = list(getattr(found, "__path__", []))
    told.update(place=own or (ways or [module])[0], whole=bool(own) or not ways)

def normal(text):
    return text.lower().replace("-", "_").replace(".", "_")

def tops(found):
    listed = (found.read_text("top_level.txt") or "").split()
    if listed:
        return listed
    parts = [str(file).split("/") for file in found.files or []]
    names = [each[0] for each in parts if not each[0].endswith((".dist-info", ".data", ".pth")) and each[0] != ".."]
    return list(dict.fromkeys(each.split(".")[0] for each in names))

def package():
    from importlib import metadata
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        told.update(recorded=False)
        take(normal(name))
        return
    try:
        version = found.version or ""
    except Exception:
        version = ""
    told.update(version=version, recorded=bool(version))
    names = [each for each in tops(found) if each.isidentifier() and each[0] != "_" and each not in BESIDES]
    exact = [each for each in names if normal(each) == normal(name)]
    editable = found.read_text("direct_url.json") and not names
    for each in exact or names or ([normal(name)] if editable else []):
        take(each)

try:
    {"itself": lambda: None, "module": lambda: take(name), "package": package}[kind]()
except BaseException as error:
    told["error"] = (type(error).__name__ + ": " + str(error)).split("\n")[0]
print("\n" + mark + json.dumps(told), flush=True)
"""


def probe_interpreter(python: str, kind: str, name: str, cwd: str, limit: float, cancel: int) -> InterpreterReply:
    mark = f"midwatch-{os.urandom(8).hex()}:"
    try:
        ended = check_program.run([python, "-I", "-c", ASK, mark, kind, name], cwd, limit, cancel)
    except OSError as error:
        return InterpreterReply(f"{python} cannot be started: {error.strerror}")
    _, found, rest = ended.text.raw.rpartition(mark)
    if not found:
        return InterpreterReply(_format_silence(ended, limit))
    try:
        told: dict[str, Any] = json.loads(rest.partition("\n")[0])
        return InterpreterReply(**{"error": ""} | told)
    except (ValueError, TypeError, RecursionError):
        return InterpreterReply("gave an answer that cannot be understood")


def _format_silence(ended: ProgramResult, limit: float) -> str:
    if ended.late:
        return f"gave no answer within {format_duration(limit)}"
    last = next((line for line in reversed(ended.text.raw.splitlines()) if line.strip()), "")
    how = f"was killed by {signal_name(-ended.code)}" if ended.code < 0 else f"ended with exit code {ended.code}"
    return f"{how} without an answer{f': {ForeignText(last).line()}' if last else ''}"
