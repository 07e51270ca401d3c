"""``assert_never`` for exhaustive matches, without the typing module, which costs an import."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import assert_never as assert_never  # noqa: PLC0414  # for those who import it from here
else:

    def assert_never(value):  # noqa: ANN001, ANN201  # the original is for type checkers
        raise AssertionError(f"{value!r} was not expected here")
