"""What every value here is: a named tuple, made without the typing module.

``typing.NamedTuple`` would do, but importing it costs every `wait` and `ls` half an interpreter start, and it compiles
code for each class. Type checkers see the original.
"""

from __future__ import annotations

__all__ = ["Value"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as Value
else:
    from _collections import _tuplegetter as field

    def _new(cls, *args, **named):
        if named or len(args) < len(cls._fields):
            rest = cls._fields[len(args) :]
            try:
                args += tuple([named.pop(name) if name in named else cls._field_defaults[name] for name in rest])
            except KeyError as missing:
                raise TypeError(f"{cls.__name__} needs {missing}") from None
        if named or len(args) != len(cls._fields):
            raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}; too much was given")
        return tuple.__new__(cls, args)

    def _replace(self, /, **named):
        return type(self)(*[named.pop(name, value) for name, value in zip(self._fields, self, strict=True)], **named)

    def _asdict(self):
        return dict(zip(self._fields, self, strict=True))

    def _arguments(self):
        """What a copy is made with (pickle)."""
        return tuple(self)

    def _repr(self):
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._asdict().items())})"

    class _Anything:
        """Stands for every name in an annotation: what that means is nobody's business here."""

        def __getattr__(self, name):
            return self

        def __getitem__(self, key):
            return self

        __or__ = __ror__ = __call__ = __getitem__

    class _Names(dict):
        def __missing__(self, name):
            return _Anything()

    FAKE_GLOBALS = 2
    """annotationlib.Format.VALUE_WITH_FAKE_GLOBALS, which is what such a function is called with here."""

    def _enclosed(each):
        return lambda: each

    function, cell = type(_new), type(_enclosed(0).__closure__[0])  # as the types module has them, and an import more

    def _annotated(space):
        """Names of the fields. Python 3.14 keeps a function that makes the annotations, unless told by a future import.

        Their values are not evaluated: some names are known to type checkers alone.
        """
        if "__annotations__" in space:
            return tuple(space["__annotations__"])
        annotate = space.get("__annotate_func__") or space.get("__annotate__")
        if annotate is None:
            return ()
        code = annotate.__code__
        outer = tuple([cell({} if name == "__classdict__" else _Anything()) for name in code.co_freevars])
        return tuple(function(code, _Names(), closure=outer)(FAKE_GLOBALS))

    class _Maker(type):
        def __new__(cls, name, bases, space):
            if not bases:
                return super().__new__(cls, name, bases, space)
            fields = _annotated(space)
            defaults = {each: space.pop(each) for each in fields if each in space}
            space |= {each: field(at, "") for at, each in enumerate(fields)}
            space |= {"__slots__": (), "__new__": _new, "__repr__": _repr, "__match_args__": fields}
            space |= {"__getnewargs__": _arguments}
            space |= {"_replace": _replace, "_asdict": _asdict, "_fields": fields, "_field_defaults": defaults}
            return type(name, (tuple,), space)

    class Value(metaclass=_Maker):
        """Base of all values; the classes made from it are plain tuples with names."""
