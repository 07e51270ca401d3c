"""What `import midwatch` gives, at what cost, and what a type checker makes of it."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import midwatch
from midwatch import aio, api
from tests.conftest import PATIENCE, Box
from tests.integration.api.programs import program, said

SAMPLE = """
import asyncio
import midwatch
from midwatch import Verdict, aio

begun = midwatch.run(["make", "all"], name="build", timeout="20m", env={"A": "b"}, retries=2)
reveal_type(begun)
reveal_type(begun.exit_code)
reveal_type(midwatch.wait("build", timeout=3.5).matched)
reveal_type(midwatch.wait_all(["a", "b"]))
reveal_type(midwatch.wait_any(["a", "b"], until="final"))
reveal_type(midwatch.status("build").state)
reveal_type(midwatch.as_json(begun))
midwatch.beat("half", progress=0.5, result={"pages": 3})

async def main() -> Verdict:
    reveal_type(await aio.run(["true"], name="x"))
    reveal_type(await aio.wait_all(["a"]))
    reveal_type(await midwatch.aio.status("a"))
    try:
        return await aio.wait("a", timeout="2m")
    except midwatch.RefusedError as error:
        reveal_type(error)
        raise

asyncio.run(main())
"""
WRONG = """
import midwatch
midwatch.run("make all", nmae="build")
midwatch.wait("build", timeout=[3])
midwatch.wiat("build")
midwatch.aio.run(["true"], retries="many")
midwatch.status("build").sate
"""


def checked(tmp_path: Path, text: str) -> list[str]:
    """What mypy says of a program, in its strictest mode."""
    (tmp_path / "sample.py").write_text(text)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(
        [*mypy, "sample.py"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE * 4, check=False
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_a_type_checker_sees_what_programs_use(tmp_path: Path) -> None:
    told = checked(tmp_path, SAMPLE)
    revealed = [found[1] for line in told if (found := re.search(r'Revealed type is "(.*)"', line))]
    assert len(revealed) == len(told), told
    kinds = [re.sub(r"tuple\[str, str.*Verdict\]", "Verdict", kind.replace("builtins.", "")) for kind in revealed]
    assert kinds == [
        "Verdict", "int | None", "midwatch.core.foreign_text.ForeignText | None", "list[Verdict]", "Verdict", "str",
        "str", "Verdict", "list[Verdict]", "Verdict", "midwatch.core.errors.RefusedError",
    ]  # fmt: skip


def test_a_type_checker_finds_what_is_wrong(tmp_path: Path) -> None:
    told = checked(tmp_path, WRONG)
    assert {int(line.split(":")[1]) for line in told if ": error:" in line} == {3, 4, 5, 6, 7}, told


def test_importing_it_loads_nothing_else(box: Box) -> None:
    script = """
        print(sorted(name for name in sys.modules if name.startswith("midwatch")))
        print([name in dir(midwatch) for name in midwatch.__all__] == [True] * len(midwatch.__all__))
        print("midwatch.api" in sys.modules, hasattr(midwatch, "nothing"), "midwatch.api" in sys.modules)
        print(midwatch.Verdict.__name__, "asyncio" in sys.modules)
        print(midwatch.aio.wait.__name__, "asyncio" in sys.modules)
        from midwatch import *
        print(wait_any.__name__)
    """
    assert said(program(box, script)) == [
        "['midwatch']", "True", "False False False", "Verdict False", "wait True", "wait_any",
    ]  # fmt: skip


@pytest.mark.parametrize("name", aio.__all__)
def test_coroutines_have_the_names_and_arguments_of_the_functions(name: str) -> None:
    found, plain = getattr(aio, name), getattr(api, name)
    feeds = inspect.isgeneratorfunction(plain)
    assert inspect.isasyncgenfunction(found) if feeds else inspect.iscoroutinefunction(found)
    assert inspect.signature(found).parameters == inspect.signature(plain).parameters
    if not feeds:
        assert inspect.signature(found) == inspect.signature(plain)


def test_everything_that_is_offered_is_documented() -> None:
    text = (Path(__file__).parents[3] / "docs/reference/python.md").read_text()
    assert [name for name in midwatch.__all__ if f"`{name}" not in text and f".{name}" not in text] == []
    for name in ("run", "wait", "beat"):
        parameters = inspect.signature(getattr(api, name)).parameters
        assert [each for each in parameters if f"`{each}" not in text and f"{each}=" not in text] == []
