"""Dogwatch keeps watch over coding agents and the work they start.

Senses see, one judge decides, hands act, the journal remembers. The rooms and what each may import stand in
``docs/architecture.md``; the files on disk, which are the truth, in ``docs/files.md``; what programs call, in
``docs/api.md``. That is loaded when it is first asked for: every call of `dogwatch beat` comes through here.
"""

__version__ = "0.1.0"
__all__ = [
    "DogwatchError",
    "ForeignText",
    "FormatError",
    "RefusedError",
    "UsageError",
    "Verdict",
    "aio",
    "as_json",
    "beat",
    "run",
    "status",
    "wait",
    "wait_all",
    "wait_any",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    import dogwatch.aio as aio  # noqa: PLR0402
    from dogwatch.api import as_json, beat, run, status, wait, wait_all, wait_any
    from dogwatch.model.errors import DogwatchError, FormatError, RefusedError, UsageError
    from dogwatch.model.foreign_text import ForeignText
    from dogwatch.model.verdict import Verdict
else:

    def __getattr__(name):  # noqa: ANN001, ANN202
        if name not in __all__:
            raise AttributeError(f"module 'dogwatch' has no attribute {name!r}")
        if name == "aio":
            return __import__("dogwatch.aio", fromlist=["aio"])
        found = getattr(__import__("dogwatch.api", fromlist=[name]), name)
        globals()[name] = found
        return found

    def __dir__():  # noqa: ANN202
        return sorted({*globals(), *__all__})
