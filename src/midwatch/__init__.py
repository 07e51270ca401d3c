"""Midwatch keeps watch over coding agents and the work they start.

Observers read, rules decide, actions act, the journal remembers. The packages and what each may import stand in
``docs/how-it-works/overview.md``; the files on disk, which are the truth, in ``docs/reference/files.md``; what programs
call, in ``docs/reference/python.md``. That is loaded when it is first asked for: every call of `midwatch beat` comes
through here.
"""

__version__ = "0.1.0"
__all__ = [
    "Event",
    "ForeignText",
    "FormatError",
    "MidwatchError",
    "PromptError",
    "RefusedError",
    "StateError",
    "Subject",
    "SubjectChange",
    "SubjectSnapshot",
    "UsageError",
    "Verdict",
    "aio",
    "answer",
    "as_json",
    "beat",
    "changes",
    "events",
    "follow",
    "job",
    "logs",
    "ls",
    "monitor",
    "run",
    "send",
    "snapshot",
    "spawn",
    "status",
    "stop",
    "wait",
    "wait_all",
    "wait_any",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    import midwatch.aio as aio  # noqa: PLR0402
    from midwatch.api.events import events
    from midwatch.api.job_block import job
    from midwatch.api.jobs import as_json, beat, ls, run, status, stop
    from midwatch.api.logs import follow, logs
    from midwatch.api.prompts import answer, send
    from midwatch.api.sessions import PromptError, monitor, spawn
    from midwatch.api.subjects import changes, snapshot
    from midwatch.api.waits import wait, wait_all, wait_any
    from midwatch.core.errors import FormatError, MidwatchError, RefusedError, StateError, UsageError
    from midwatch.core.event import Event
    from midwatch.core.foreign_text import ForeignText
    from midwatch.core.verdict import Verdict
    from midwatch.subjects.model import Subject, SubjectChange, SubjectSnapshot
else:
    _HOMES = {
        "api.events": ("events",),
        "api.job_block": ("job",),
        "api.jobs": ("as_json", "beat", "ls", "run", "status", "stop"),
        "api.logs": ("follow", "logs"),
        "api.prompts": ("answer", "send"),
        "api.sessions": ("PromptError", "monitor", "spawn"),
        "api.subjects": ("changes", "snapshot"),
        "api.waits": ("wait", "wait_all", "wait_any"),
        "core.errors": ("FormatError", "MidwatchError", "RefusedError", "StateError", "UsageError"),
        "core.event": ("Event",),
        "core.foreign_text": ("ForeignText",),
        "core.verdict": ("Verdict",),
        "subjects.model": ("Subject", "SubjectChange", "SubjectSnapshot"),
    }

    def __getattr__(name):  # noqa: ANN001, ANN202
        if name not in __all__:
            raise AttributeError(f"module 'midwatch' has no attribute {name!r}")
        if name == "aio":
            return __import__("midwatch.aio", fromlist=["aio"])
        home = next(module for module, names in _HOMES.items() if name in names)
        found = getattr(__import__(f"midwatch.{home}", fromlist=[name]), name)
        globals()[name] = found
        return found

    def __dir__():  # noqa: ANN202
        return sorted({*globals(), *__all__})
