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

    def _repr(self):
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._asdict().items())})"

    class _Maker(type):
        def __new__(cls, name, bases, space):
            if not bases:
                return super().__new__(cls, name, bases, space)
            fields = tuple(space["__annotations__"])
            defaults = {each: space.pop(each) for each in fields if each in space}
            space |= {each: field(at, "") for at, each in enumerate(fields)}
            space |= {"__slots__": (), "__new__": _new, "__repr__": _repr, "__match_args__": fields}
            space |= {"_replace": _replace, "_asdict": _asdict, "_fields": fields, "_field_defaults": defaults}
            return type(name, (tuple,), space)

    class Value(metaclass=_Maker):
        """Base of all values; the classes made from it are plain tuples with names."""
