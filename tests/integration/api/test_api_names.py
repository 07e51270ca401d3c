"""What `import midwatch` gives, at what cost, and what a type checker makes of it."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import midwatch
from midwatch import aio
from midwatch.cli.command_table import VERBS
from midwatch.core.verdict import FINAL, LIVE
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
STRICT = """
from datetime import timedelta
from typing import assert_type
import midwatch

built = midwatch.run(["make"], on_stuck="stop", timeout=timedelta(minutes=20), progress=["output", "beat"])
assert_type(midwatch.stop("build"), midwatch.Verdict)
assert_type(midwatch.stop(["build", built]), list[midwatch.Verdict])
assert_type(midwatch.logs("build"), str)
assert_type(midwatch.logs("build", raw=True), bytes)
assert_type(midwatch.ls(all=True), dict[str, list[midwatch.Verdict]])
assert_type(midwatch.ls(), list[midwatch.Verdict])
assert_type(built.raise_for_state("working").ok, bool)
with midwatch.job(["make"], name="docs") as job:
    assert_type(job.wait(until="final", timeout="90s"), midwatch.Verdict)
    midwatch.wait_all([job, built, "lint"])

async def main() -> None:
    assert_type(await midwatch.aio.logs("build", raw=True), bytes)
    async with midwatch.aio.job(["make"], stale=90) as job:
        async for line in job.follow():
            assert_type(line, str)
"""
TYPOS = """
import midwatch
midwatch.run(["make"], on_stuck="kill")
midwatch.run(["make"], policy="nice")
midwatch.run(["make"], progress=["hope"])
midwatch.wait("build", until="finished")
midwatch.monitor("api", on_limit="resume")
midwatch.wait("build").state == "faild"
midwatch.wait("build").raise_for_state("done")
with midwatch.job(["make"], on_stuck="kill"): pass
midwatch.ls(all=True, dir="/tmp")
midwatch.send("api", "go on", via="telnet")
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


STATE = " | ".join(f"Literal['{state}']" for state in (*LIVE, *FINAL))


def test_a_type_checker_sees_what_programs_use(tmp_path: Path) -> None:
    told = checked(tmp_path, SAMPLE)
    revealed = [found[1] for line in told if (found := re.search(r'Revealed type is "(.*)"', line))]
    assert len(revealed) == len(told), told
    kinds = [re.sub(r"tuple\[str, str.*Verdict\]", "Verdict", kind.replace("builtins.", "")) for kind in revealed]
    assert kinds == [
        "Verdict", "int | None", "midwatch.core.foreign_text.ForeignText | None", "list[Verdict]", "Verdict", STATE,
        "str", "Verdict", "list[Verdict]", "Verdict", "midwatch.core.errors.RefusedError",
    ]  # fmt: skip


def test_a_type_checker_finds_what_is_wrong(tmp_path: Path) -> None:
    told = checked(tmp_path, WRONG)
    assert {int(line.split(":")[1]) for line in told if ": error:" in line} == {3, 4, 5, 6, 7}, told


def test_words_that_a_function_takes_are_types(tmp_path: Path) -> None:
    assert checked(tmp_path, STRICT) == []
    told = checked(tmp_path, TYPOS)
    assert {int(line.split(":")[1]) for line in told if ": error:" in line} == set(range(3, 13)), told


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


STREAMS = {"changes", "events", "follow"}
NOT_AWAITED = {"as_json", "job", *STREAMS}
"""What is no coroutine: text of a verdict, a block, and what is iterated over."""


def test_midwatch_aio_has_every_function_of_midwatch() -> None:
    offered = {name: getattr(midwatch, name) for name in midwatch.__all__}
    functions = [name for name, found in offered.items() if callable(found) and not isinstance(found, type)]
    assert sorted(aio.__all__) == sorted(functions)


@pytest.mark.parametrize("name", aio.__all__)
def test_coroutines_have_the_names_and_arguments_of_the_functions(name: str) -> None:
    assert inspect.iscoroutinefunction(getattr(aio, name)) == (name not in NOT_AWAITED)
    assert inspect.isasyncgenfunction(getattr(aio, name)) == (name in STREAMS)
    theirs, ours = (inspect.signature(getattr(home, name)).parameters for home in (aio, midwatch))
    assert theirs == ours


def documented() -> dict[str, str]:
    """The names in the tables of the reference, each with what stands beside it."""
    text = (Path(__file__).parents[3] / "docs/reference/python.md").read_text()
    table = text.partition("## Functions")[2].partition("\n## ")[0]
    return {found[1]: line for line in table.splitlines() if (found := re.match(r"\| `(?:with )?(\w+)", line))}


def test_the_reference_has_exactly_the_names_that_are_offered() -> None:
    text = (Path(__file__).parents[3] / "docs/reference/python.md").read_text()
    functions = {name for name in midwatch.__all__ if not isinstance(getattr(midwatch, name), type)}
    classes = {*midwatch.__all__} - functions
    assert set(documented()) - classes == functions
    assert [name for name in classes if f"`{name}`" not in text] == []


@pytest.mark.parametrize("name", sorted({*aio.__all__} - {"as_json", "job"}))
def test_every_argument_is_documented_with_its_function(name: str) -> None:
    text = (Path(__file__).parents[3] / "docs/reference/python.md").read_text()
    listed = re.search(rf"^- `{name}`[^\n]*(?:\n  [^\n]*)*", text, re.MULTILINE)
    assert listed is not None, name
    words = set(re.findall(r"`(\w+)`", listed[0])) - {name}
    assert words >= set(inspect.signature(getattr(midwatch, name)).parameters)


@pytest.mark.parametrize("name", ["run", "spawn", "monitor", "wait", "ls", "logs", "stop", "send", "answer", "events"])
def test_keywords_are_flags_of_the_command_of_that_name(name: str) -> None:
    """Whoever knows the one knows the other; what has another name here stands in this table."""
    other = {
        "--lines": "-n", "--last": "-n", "--socket": "-S", "--text": "--file",
        "--status-protocol": "--no-status-protocol",
    }  # fmt: skip
    only_here = {"--command", "--name", "--names", "--jobs", "--target", "--args", "--choice", "--on-change"}
    flags = {flag for flag, *_ in VERBS[name]["options"]}  # type: ignore[attr-defined]
    keywords = {f"--{each.replace('_', '-')}" for each in inspect.signature(getattr(midwatch, name)).parameters}
    assert {other.get(each, each) if each not in flags else each for each in keywords - only_here} <= flags
