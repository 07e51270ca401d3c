"""What programs do with jobs besides starting them: list, stop, read, follow, and have one for a block."""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import midwatch
from midwatch import aio
from tests.conftest import Box
from tests.integration.api.programs import program, said
from tests.integration.wait.watching import Gate, start_gated

READY = ["sh", "-c", "echo ready; exec sleep 600"]


# Verdicts -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("here")
def test_a_state_that_nobody_wanted_is_an_error_that_has_the_verdict() -> None:
    midwatch.run(["sh", "-c", "exit 3"], name="job")
    verdict = midwatch.wait("job")
    assert not verdict.ok
    with pytest.raises(midwatch.StateError, match="job: failed: exit 3") as raised:
        verdict.raise_for_state()
    assert raised.value.verdict == verdict
    assert verdict.raise_for_state("failed") is verdict
    again = pickle.loads(pickle.dumps(raised.value))
    assert (again.verdict.state, str(again)) == ("failed", str(raised.value))


def test_work_that_goes_on_is_not_completed(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "job", "true")
    verdict = midwatch.wait("job", timeout=0)
    with pytest.raises(midwatch.StateError):
        verdict.raise_for_state()
    assert verdict.raise_for_state("working") is verdict
    gate.say()
    assert midwatch.wait("job").raise_for_state().ok


@pytest.mark.parametrize(("given", "seconds"), [(timedelta(minutes=1.5), 90), (90, 90), ("90s", 90), ("1.5m", 90)])
def test_a_time_is_said_in_any_of_four_ways(here: Box, given: Any, seconds: float) -> None:
    midwatch.run(["true"], name="job", timeout=given, stale=given, grace=given)
    policy = here.record("job")["policy"]
    assert (policy["timeout_s"], policy["stale_s"], policy["grace_s"]) == (seconds, seconds, seconds)
    assert midwatch.wait("job", timeout=given).ok


@pytest.mark.usefixtures("here")
def test_a_time_before_now_is_refused_in_words_of_the_api() -> None:
    with pytest.raises(midwatch.UsageError, match=r"^on_stuck is one of report, stop, not 'kill'$"):
        midwatch.run(["true"], on_stuck="kill")  # type: ignore[arg-type]
    with pytest.raises(midwatch.UsageError, match=r"^timeout: "):
        midwatch.wait("job", timeout=timedelta(seconds=-1))
    with pytest.raises(midwatch.UsageError, match=r"^heartbeat 60s must be below half of stale 60s$"):
        midwatch.run(["true"], heartbeat=timedelta(minutes=1), stale=60)


# Listing and stopping -----------------------------------------------------------------------------------------------


def test_jobs_are_listed_as_ls_lists_them(here: Box, gate: Gate) -> None:
    assert midwatch.ls() == []
    start_gated(here, gate, "b", "true")
    midwatch.wait(midwatch.run(["true"], name="a"))
    assert [(each.name, each.state) for each in midwatch.ls()] == [("a", "completed"), ("b", "working")]
    assert len(here("ls", "--json").out.splitlines()) == 2


def test_jobs_of_all_projects_are_listed_under_their_directories(here: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MIDWATCH_HOME")
    for project in ("one", "two"):
        (here.cwd / project).mkdir()
        monkeypatch.chdir(here.cwd / project)
        midwatch.wait(midwatch.run(["true"], name=f"job-{project}"))
    found = midwatch.ls(all=True)
    assert [[each.name for each in verdicts] for verdicts in found.values()] == [["job-one"], ["job-two"]]
    for directory, (verdict,) in found.items():
        assert midwatch.status(verdict, dir=directory).ok
    with pytest.raises(midwatch.UsageError, match="dir names one"):
        midwatch.ls(all=True, dir=here.cwd)  # type: ignore[call-overload]


@pytest.mark.usefixtures("here")
def test_one_job_is_stopped_or_several() -> None:
    jobs = [midwatch.run(READY, name=name) for name in ("a", "b", "c")]
    assert midwatch.stop(jobs[0]).state == "stopped"
    assert [each.state for each in midwatch.stop(["a", jobs[1], "nobody", jobs[2]])] == [
        "stopped", "stopped", "not_found", "stopped",
    ]  # fmt: skip
    assert midwatch.stop([]) == []
    with pytest.raises(midwatch.UsageError, match="two words"):
        midwatch.stop("two words")


# What they print ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("here")
def test_a_log_is_safe_text_or_every_byte() -> None:
    midwatch.wait(midwatch.run(["printf", r"one\ntwo\n\033[2Jthree\377"], name="job"))
    assert midwatch.logs("job") == "one\ntwo\nthree\\xff"
    assert midwatch.logs("job", raw=True) == b"one\ntwo\n\x1b[2Jthree\xff"
    assert midwatch.logs("job", lines=1) == "three\\xff"
    assert list(midwatch.follow("job", lines=2)) == ["two", "three\\xff"]
    with pytest.raises(midwatch.RefusedError, match="there is no job"):
        midwatch.logs("nobody")
    with pytest.raises(midwatch.UsageError, match="lines"):
        midwatch.logs("job", lines=-1)


def test_lines_come_while_the_job_writes_them(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "job", "echo two; printf three")
    lines = midwatch.follow("job")
    with contextlib.closing(lines):  # type: ignore[type-var]
        gate.say()
        assert list(lines) == ["two", "three"]


def test_an_event_loop_follows_too_and_can_leave(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "job", "echo one; read -r line < " + gate.path)

    async def main() -> list[str]:
        found = aio.follow("job")
        gate.say()
        first = await anext(found)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                await anext(found)
        gate.say()
        return [first, *[line async for line in aio.follow("job")]]

    assert asyncio.run(main()) == ["one", "one"]


def test_nothing_is_left_of_followers_and_listeners(here: Box) -> None:
    script = """
        import asyncio, threading
        from midwatch import aio
        midwatch.wait(midwatch.run(["echo", "one"], name="job"))
        async def main():
            async for line in aio.follow("job"):
                print(line)
            async for event in aio.events("job", follow=True, since=0):
                print(event.event)
                if event.event == "ended":
                    break
        asyncio.run(main())
        before = fds()
        print(list(midwatch.follow("job")), len(list(midwatch.events("job"))))
        asyncio.run(main())
        print(fds() == before, children(), threading.active_count())
    """
    once = ["one", "started", "ended"]
    assert said(program(here, script)) == [*once, "['one'] 2", *once, "True [] 1"]


# Events -------------------------------------------------------------------------------------------------------------


def test_events_are_those_of_the_command(here: Box) -> None:
    assert list(midwatch.events()) == []
    for name in ("a", "b"):
        midwatch.wait(midwatch.run(["true"], name=name))
    found = list(midwatch.events())
    assert [(each.name, each.event) for each in found] == [
        ("a", "started"), ("a", "ended"), ("b", "started"), ("b", "ended"),
    ]  # fmt: skip
    assert found[1].fields["state"] == "completed"
    assert [each.seq for each in midwatch.events(since=found[1].seq)] == [each.seq for each in found[2:]]
    assert [each.seq for each in midwatch.events(last=1)] == [found[-1].seq]
    assert [each.seq for each in midwatch.events(["a"])] == [each.seq for each in found[:2]]
    assert len(here("events", "--json").out.splitlines()) == 4


@pytest.mark.parametrize("wrong", [{"since": -1}, {"last": 1.5}, {"follow": True, "since": 1, "last": 1}], ids=str)
@pytest.mark.usefixtures("here")
def test_events_that_cannot_be_meant_are_refused_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(midwatch.UsageError) as raised:
        midwatch.events(**wrong)
    assert "--" not in str(raised.value)


@pytest.mark.usefixtures("here")
def test_a_number_beyond_the_newest_is_refused_in_words_of_the_api() -> None:
    midwatch.wait(midwatch.run(["true"], name="a"))
    with pytest.raises(midwatch.RefusedError, match="since 99 is beyond the newest event") as raised:
        list(midwatch.events(since=99))
    assert "--" not in str(raised.value)


@pytest.mark.usefixtures("here")
def test_events_are_told_as_they_come() -> None:
    midwatch.wait(midwatch.run(["true"], name="before"))
    found: list[str] = []
    heard = midwatch.events(follow=True, last=1)
    assert next(heard).name == "before"
    listening = threading.Thread(target=lambda: found.append(next(midwatch.events("job", follow=True, since=0)).name))
    listening.start()
    midwatch.run(["true"], name="job")
    listening.join(30)
    assert (found, next(heard).name) == (["job"], "job")
    heard.close()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("here")
def test_an_event_loop_hears_them_too() -> None:
    async def main() -> list[tuple[str, str]]:
        found = []
        await aio.run(["true"], name="early")
        async for event in aio.events(follow=True, since=0):
            found.append((event.name, event.event))
            if len(found) == 2:
                await aio.run(["true"], name="late")
            if len(found) == 4:
                break
        return found

    assert asyncio.run(main()) == [("early", "started"), ("early", "ended"), ("late", "started"), ("late", "ended")]


# Blocks -------------------------------------------------------------------------------------------------------------


def test_a_job_of_a_block_ends_with_it(here: Box) -> None:
    with midwatch.job(READY, name="server") as job:
        assert (job.name, job.wait(match="ready").final, job.logs()) == ("server", False, "ready\n")
        assert midwatch.wait_any([job], timeout=0).state == job.status().state == "working"
    assert here.record("server")["end"]["state"] == "stopped"


def test_an_exception_ends_it_and_goes_on(here: Box) -> None:
    with pytest.raises(ZeroDivisionError), midwatch.job(READY, name="server"):
        raise ZeroDivisionError
    assert here.record("server")["end"]["state"] == "stopped"


def test_a_job_that_has_ended_in_its_block_keeps_its_end(here: Box, tmp_path: Path) -> None:
    with midwatch.job(["sh", "-c", "exit 3"], name="job", dir=tmp_path / "else where") as job:
        assert list(job.follow()) == []
        assert job.wait().exit_code == job.stop().exit_code == 3
    assert midwatch.status("job", dir=tmp_path / "else where").state == "failed"
    assert not here.dir.exists()


@pytest.mark.usefixtures("here")
def test_a_later_run_of_the_same_name_is_not_the_blocks_own() -> None:
    with midwatch.job(["true"], name="job") as job:
        job.wait()
        midwatch.run(READY, name="job")
    assert midwatch.status("job").state == "working"
    midwatch.stop("job")


@pytest.mark.usefixtures("here")
def test_a_command_that_cannot_be_started_is_no_exception_in_a_block_either() -> None:
    with midwatch.job(["no-such-command"], name="job") as job:
        assert (job.verdict.state, job.wait().exit_code) == ("failed", 127)


@pytest.mark.usefixtures("here")
def test_a_block_of_an_event_loop_ends_its_job_also_when_it_is_cancelled() -> None:
    async def hold(started: asyncio.Event) -> None:
        async with aio.job(READY, name="server") as job:
            assert (await job.wait(match="ready")).state == (await job.status()).state == "working"
            assert await job.logs() == "ready\n"
            started.set()
            await job.wait()

    async def main() -> str:
        started = asyncio.Event()
        holding = asyncio.create_task(hold(started))
        await started.wait()
        holding.cancel()
        await asyncio.gather(holding, return_exceptions=True)
        return (await aio.status("server")).state

    assert asyncio.run(main()) == "stopped"
