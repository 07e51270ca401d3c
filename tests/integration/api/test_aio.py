"""Waiting on an event loop: others go on, cancelling leaves nothing, and a thousand waits share what they need."""

import asyncio
import gc
import os
import signal
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

import midwatch
from midwatch import aio
from midwatch.subjects import async_wait
from tests.conftest import PATIENCE, Box, kill
from tests.integration.wait.watching import Gate, start, start_gated

T = TypeVar("T")


def go(main: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(main, PATIENCE * 2))


def opened(kind: str = "") -> int:
    """How many descriptors of this process are open, of those that a kind is part of the name of."""
    links = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
    return sum(kind in os.readlink(link) for link in links if os.path.lexists(link))


async def until_asleep(*tasks: asyncio.Task[Any]) -> None:
    """Until each task has looked and waits to be woken."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(PATIENCE):
        while True:
            hubs = async_wait._LOOPS.get(loop)
            asleep = sum(
                bool(each.woken._waiters) for one in (hubs.of if hubs else {}).values() for each in one.members
            )
            if asleep >= sum(not task.done() for task in tasks):
                return
            await asyncio.sleep(0.001)


def nothing_left() -> bool:
    return not any(hubs.of for hubs in async_wait._LOOPS.values())


def test_a_wait_is_told_while_the_loop_does_other_things(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "job", "exit 3")

    async def main() -> midwatch.Verdict:
        waiting = asyncio.create_task(aio.wait("job"))
        await until_asleep(waiting)
        gate.say()  # nobody else would: a wait that blocked the loop would block for ever
        return await waiting

    verdict = go(main())
    assert (verdict.state, verdict.exit_code) == ("failed", 3)
    assert verdict == midwatch.wait("job")
    assert nothing_left()


def test_all_the_names_work_as_coroutines(here: Box) -> None:
    async def main() -> None:
        begun = await aio.run(["sh", "-c", "echo hello"], name="job", timeout="5m")
        assert begun.name == "job"
        assert (await aio.wait("job")).state == (await aio.wait(begun)).state == "completed"
        assert (await aio.status("job")) == midwatch.status("job")
        assert [each.name for each in await aio.wait_all(["nobody", "job", "nobody"])] == ["nobody", "job", "nobody"]
        assert (await aio.wait_any(["job"])).state == "completed"
        await aio.beat("late", name="job", dir=here.dir)
        with pytest.raises(midwatch.UsageError):
            await aio.wait("two words")
        with pytest.raises(midwatch.UsageError):
            await aio.run([])

    go(main())
    assert nothing_left()


def test_the_first_of_several_is_told_and_the_others_are_left(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "slow", "true")
    start(here, "quick", "false")

    async def main() -> midwatch.Verdict:
        return await aio.wait_any(["slow", "quick"])

    assert go(main()).name == "quick"
    assert nothing_left()


def test_when_the_callers_time_runs_out_the_live_verdicts_come_back(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "job", "true")
    start(here, "done", "true")
    assert midwatch.wait("done").final

    async def main() -> None:
        found = await aio.wait_all(["job", "done"], timeout=0.05)
        assert [each.state for each in found] == ["working", "completed"]
        assert (await aio.wait_any(["job"], timeout=0)).final is False
        assert (await aio.wait("nobody", start="50ms")).state == "not_found"

    go(main())


def test_a_cancelled_wait_is_over_at_once_and_leaves_nothing(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "job", "true")

    async def main() -> None:
        before, threads = opened(), threading.active_count()
        for _ in range(3):
            waiting = asyncio.create_task(aio.wait("job", match="never"))
            await until_asleep(waiting)
            assert opened("inotify") == 1
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert nothing_left()
            assert (opened(), threading.active_count(), len(asyncio.all_tasks())) == (before, threads, 2)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await aio.wait("job")
        assert (opened(), nothing_left()) == (before, True)

    go(main())


def test_a_wait_may_be_cancelled_before_it_has_looked(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "job", "true")

    async def main() -> None:
        before = opened()
        waits = [asyncio.create_task(aio.wait("job")) for _ in range(50)]
        for turns in range(20):
            await asyncio.sleep(0)
            waits[turns].cancel()
        for waiting in waits:
            waiting.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
        assert all(waiting.cancelled() for waiting in waits)
        assert (opened(), nothing_left()) == (before, True)

    go(main())


def test_those_who_wait_for_the_same_job_do_not_disturb_each_other(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "job", "echo ready; read -r line < " + gate.path)

    async def main() -> None:
        for_line = asyncio.create_task(aio.wait("job", match="ready"))
        given_up = asyncio.create_task(aio.wait("job"))
        for_end = [asyncio.create_task(aio.wait("job", until="final")) for _ in range(5)]
        await until_asleep(for_line, given_up, *for_end)
        given_up.cancel()
        gate.say()
        assert (await for_line).matched == midwatch.ForeignText("ready")
        await until_asleep(*for_end)
        gate.say()
        assert {each.state for each in await asyncio.gather(*for_end)} == {"completed"}

    go(main())
    assert nothing_left()


def test_the_death_of_shim_and_work_is_told_to_all_who_wait(here: Box, gate: Gate) -> None:
    for name in ("one", "two"):
        start_gated(here, gate, name, "true")

    async def main() -> None:
        waits = [asyncio.create_task(aio.wait(name)) for name in ("one", "one", "two")]
        await until_asleep(*waits)
        for pid in here.pids("one"):
            kill(pid, signal.SIGKILL)
        assert [(await waiting).state for waiting in waits[:2]] == ["crashed", "crashed"]
        assert not waits[2].done()
        gate.say()
        assert (await waits[2]).state == "completed"

    go(main())


def test_a_thousand_waits_share_one_queue_of_events(here: Box, gate: Gate) -> None:
    names = [f"job-{number}" for number in range(4)]
    for name in names:
        start_gated(here, gate, name, "true")

    async def main() -> None:
        before = opened()
        waits = [asyncio.create_task(aio.wait(names[number % 4])) for number in range(1000)]
        await until_asleep(*waits)
        assert opened("inotify") == 1
        assert opened() <= before + 2 + len(names)
        for _ in names:
            gate.say()
        assert {each.state for each in await asyncio.gather(*waits)} == {"completed"}
        assert opened() == before

    go(main())


def test_whatever_else_the_loop_has_to_do_comes_between_two_looks(here: Box) -> None:
    """Also where there is much to look at: many names, and a long log to be searched."""
    here.dir.mkdir(mode=0o700)
    for number in range(200):
        here.path(f"step-{number}.status").write_text("FAILED\n")
    here.path("step-0.log").write_text("a line that nobody waits for\n" * 500_000)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def main() -> None:
        counting = asyncio.create_task(count())
        found = await aio.wait_all([f"step-{number}" for number in range(200)], match="the line")
        counting.cancel()
        assert {each.state for each in found} == {"failed"}

    go(main())
    assert turns > 200 + 500_000 * 29 // (1 << 18)


def test_loops_in_several_threads_wait_at_once(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "job", "true")
    states: list[str] = []
    asleep = threading.Barrier(4)

    async def main() -> None:
        waiting = asyncio.create_task(aio.wait("job"))
        await until_asleep(waiting)
        await asyncio.to_thread(asleep.wait, PATIENCE)
        states.append((await waiting).state)

    threads = [threading.Thread(target=lambda: go(main())) for _ in range(3)]
    for thread in threads:
        thread.start()
    asleep.wait(PATIENCE)
    gate.say()
    for thread in threads:
        thread.join(PATIENCE)
    assert states == ["completed"] * 3
    assert nothing_left()


def test_where_the_kernel_sends_no_events_it_is_looked_at_now_and_then(
    here: Box, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIDWATCH_EVENTS", "off")
    start_gated(here, gate, "job", "true")

    async def main() -> midwatch.Verdict:
        waiting = asyncio.create_task(aio.wait("job"))
        await until_asleep(waiting)
        gate.say()
        return await waiting

    assert go(main()).state == "completed"
    assert nothing_left()


def test_a_job_that_does_not_exist_yet_is_waited_for(here: Box, tmp_path: Path) -> None:
    async def main() -> midwatch.Verdict:
        waiting = asyncio.create_task(aio.wait("job", start=PATIENCE, dir=tmp_path / "not yet"))
        await until_asleep(waiting)
        assert here("run", "-d", "--dir", str(tmp_path / "not yet"), "--name", "job", "--", "true").code == 0
        return await waiting

    assert go(main()).state == "completed"


def test_a_loop_that_is_abandoned_takes_its_waits_along(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "job", "true")
    before = opened()
    loop = asyncio.new_event_loop()
    waiting = loop.create_task(aio.wait("job"))
    loop.run_until_complete(until_asleep(waiting))
    waiting.cancel()
    loop.close()  # nobody let the wait hear of its end
    waiting._log_destroy_pending = False  # type: ignore[attr-defined]  # asyncio says that of any task left pending
    del waiting, loop
    gc.collect()
    assert (opened(), nothing_left()) == (before, True)
