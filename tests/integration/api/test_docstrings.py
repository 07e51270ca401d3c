"""The examples in the docstrings of the API are run as they stand, each in a home of its own."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import midwatch
import midwatch.api
from midwatch.core import verdict
from tests.conftest import Box
from tests.integration.panes.private import Private

MODULES = [importlib.import_module(f"midwatch.api.{each.name}") for each in pkgutil.iter_modules(midwatch.api.__path__)]


def examples() -> Iterator[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    for module in [*MODULES, verdict]:
        for test in finder.find(module):
            if test.examples:
                yield test
    block = finder.find(midwatch.job, "midwatch.job")
    yield from [test for test in block if test.examples]


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Private]:
    for name in ("TMUX", "TMUX_PANE"):
        monkeypatch.delenv(name, raising=False)
    found = Private(tmp_path / "s")
    yield found
    found.end()


EXAMPLES = {test.name: test for test in examples()}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_does_what_it_says(name: str, here: Box, private: Private) -> None:
    said: list[str] = []
    EXAMPLES[name].globs = {"__name__": "__main__", "socket": str(private.socket)}
    ran = doctest.DocTestRunner().run(EXAMPLES[name], out=said.append)
    assert (ran.failed, ran.attempted > 1) == (0, True), "".join(said)
    assert here.cwd.exists()


def test_every_function_has_an_example() -> None:
    shown = {name.rpartition(".")[2] for name in EXAMPLES}
    functions = {name for name in midwatch.__all__ if not isinstance(getattr(midwatch, name), type)} - {"aio"}
    assert functions - shown == set()


def test_an_example_that_is_wrong_is_found(tmp_path: Path) -> None:
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", str(tmp_path), 0)
    assert doctest.DocTestRunner().run(wrong, out=lambda _: None).failed == 1
