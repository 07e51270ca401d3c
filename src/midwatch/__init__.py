"""Midwatch keeps watch over coding agents and the work they start.

Observers read, rules decide, actions act, the journal remembers. The packages and what each may import stand in
``docs/how-it-works/overview.md``; the files on disk, which are the truth, in ``docs/reference/files.md``; what programs
call, in ``docs/reference/python.md``. That is loaded when it is first asked for: every call of `midwatch beat` comes
through here.
"""

__version__ = "0.1.0"
__all__ = [
    "ForeignText",
    "FormatError",
    "MidwatchError",
    "RefusedError",
    "Subject",
    "SubjectChange",
    "SubjectSnapshot",
    "UsageError",
    "Verdict",
    "aio",
    "as_json",
    "beat",
    "changes",
    "run",
    "snapshot",
    "status",
    "wait",
    "wait_all",
    "wait_any",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    import midwatch.aio as aio  # noqa: PLR0402
    from midwatch.api import as_json, beat, changes, run, snapshot, status, wait, wait_all, wait_any
    from midwatch.core.errors import FormatError, MidwatchError, RefusedError, UsageError
    from midwatch.core.foreign_text import ForeignText
    from midwatch.core.verdict import Verdict
    from midwatch.subjects.model import Subject, SubjectChange, SubjectSnapshot
else:

    def __getattr__(name):  # noqa: ANN001, ANN202
        if name not in __all__:
            raise AttributeError(f"module 'midwatch' has no attribute {name!r}")
        if name == "aio":
            return __import__("midwatch.aio", fromlist=["aio"])
        found = getattr(__import__("midwatch.api", fromlist=[name]), name)
        globals()[name] = found
        return found

    def __dir__():  # noqa: ANN202
        return sorted({*globals(), *__all__})
