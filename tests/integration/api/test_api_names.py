"""What `import dogwatch` gives, at what cost, and what a type checker makes of it."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dogwatch
from dogwatch import aio, api
from tests.conftest import PATIENCE, Box
from tests.integration.api.programs import program, said

SAMPLE = """
import asyncio
import dogwatch
from dogwatch import Verdict, aio

begun = dogwatch.run(["make", "all"], name="build", timeout="20m", env={"A": "b"}, retries=2)
reveal_type(begun)
reveal_type(begun.exit_code)
reveal_type(dogwatch.wait("build", timeout=3.5).matched)
reveal_type(dogwatch.wait_all(["a", "b"]))
reveal_type(dogwatch.wait_any(["a", "b"], until="final"))
reveal_type(dogwatch.status("build").state)
reveal_type(dogwatch.as_json(begun))
dogwatch.beat("half", progress=0.5, result={"pages": 3})

async def main() -> Verdict:
    reveal_type(await aio.run(["true"], name="x"))
    reveal_type(await aio.wait_all(["a"]))
    reveal_type(await dogwatch.aio.status("a"))
    try:
        return await aio.wait("a", timeout="2m")
    except dogwatch.RefusedError as error:
        reveal_type(error)
        raise

asyncio.run(main())
"""
WRONG = """
import dogwatch
dogwatch.run("make all", nmae="build")
dogwatch.wait("build", timeout=[3])
dogwatch.wiat("build")
dogwatch.aio.run(["true"], retries="many")
dogwatch.status("build").sate
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
        "Verdict", "int | None", "dogwatch.model.foreign_text.ForeignText | None", "list[Verdict]", "Verdict", "str",
        "str", "Verdict", "list[Verdict]", "Verdict", "dogwatch.model.errors.RefusedError",
    ]  # fmt: skip


def test_a_type_checker_finds_what_is_wrong(tmp_path: Path) -> None:
    told = checked(tmp_path, WRONG)
    assert {int(line.split(":")[1]) for line in told if ": error:" in line} == {3, 4, 5, 6, 7}, told


def test_importing_it_loads_nothing_else(box: Box) -> None:
    script = """
        print(sorted(name for name in sys.modules if name.startswith("dogwatch")))
        print([name in dir(dogwatch) for name in dogwatch.__all__] == [True] * len(dogwatch.__all__))
        print("dogwatch.api" in sys.modules, hasattr(dogwatch, "nothing"), "dogwatch.api" in sys.modules)
        print(dogwatch.Verdict.__name__, "asyncio" in sys.modules)
        print(dogwatch.aio.wait.__name__, "asyncio" in sys.modules)
        from dogwatch import *
        print(wait_any.__name__)
    """
    assert said(program(box, script)) == [
        "['dogwatch']", "True", "False False False", "Verdict False", "wait True", "wait_any",
    ]  # fmt: skip


@pytest.mark.parametrize("name", aio.__all__)
def test_coroutines_have_the_names_and_arguments_of_the_functions(name: str) -> None:
    assert inspect.iscoroutinefunction(getattr(aio, name))
    assert inspect.signature(getattr(aio, name)) == inspect.signature(getattr(api, name))


def test_everything_that_is_offered_is_documented() -> None:
    text = (Path(__file__).parents[3] / "docs/api.md").read_text()
    assert [name for name in dogwatch.__all__ if f"`{name}" not in text and f".{name}" not in text] == []
    for name in ("run", "wait", "beat"):
        parameters = inspect.signature(getattr(api, name)).parameters
        assert [each for each in parameters if f"`{each}" not in text and f"{each}=" not in text] == []
