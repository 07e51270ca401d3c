"""The API and sessions: what it leaves behind, and that an event loop goes on while tmux is asked."""

from __future__ import annotations

from tests.integration.api.programs import program, said
from tests.integration.spawn.office import Office

BESIDE = """
    import asyncio, signal
    from midwatch import aio

    async def main():
        waiting = asyncio.create_task(aio.wait("api"))
        while not midwatch.subjects.async_wait._LOOPS or not any(
            each.wait.sessions and each.wait.sessions.live("api")
            for hubs in midwatch.subjects.async_wait._LOOPS.values() for one in hubs.of.values() for each in one.members
        ):
            await asyncio.sleep(0.001)
"""


def test_nothing_is_left_of_a_look_or_a_wait(office: Office) -> None:
    office.spawned(prompt="ask")
    script = """
        import threading
        before = fds()
        for _ in range(3):
            print(midwatch.status("api").state, midwatch.wait("api").state)
        print(fds() == before, children(), threading.active_count())
    """
    assert said(program(office.box, script)) == ["waiting waiting"] * 3 + ["True [] 1"]


def test_an_event_loop_goes_on_while_tmux_does_not_answer(office: Office) -> None:
    office.spawned(prompt="work")
    script = (
        BESIDE
        + f"""
        os.kill({office.tmux.pid}, signal.SIGSTOP)  # from now on every look hangs until it gives up
        began, gaps, last = loop_time(), [], loop_time()
        while loop_time() < began + 3.0:
            await asyncio.sleep(0.01)
            gaps.append(loop_time() - last)
            last = loop_time()
        os.kill({office.tmux.pid}, signal.SIGCONT)
        print(len(gaps) > 10, waiting.done())  # a loop that hangs with the look comes round once or twice
        with open("{office.notes}/new", "w") as file:
            file.write("ask")
        os.rename("{office.notes}/new", "{office.notes}/go")
        print((await waiting).state)

    loop_time = __import__("time").monotonic
    asyncio.run(main())
    """
    )
    assert said(program(office.box, script)) == ["True False", "waiting"]


def test_a_wait_that_is_cancelled_leaves_nothing(office: Office) -> None:
    office.spawned(prompt="work")
    script = (
        BESIDE
        + """
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        return waiting.cancelled()

    before = fds()
    cancelled = asyncio.run(main())
    print(cancelled, fds() == before, children())
    """
    )
    assert said(program(office.box, script)) == ["True True []"]


def test_jobs_and_sessions_together(office: Office) -> None:
    office.spawned("one", prompt="ask")
    office.spawned("two", "--verify", "false", prompt="say")
    script = """
        import asyncio
        from midwatch import aio
        midwatch.run(["sh", "-c", "exit 3"], name="job")
        names = ["two", "job", "one"]
        for found in (midwatch.wait_all(names), asyncio.run(aio.wait_all(names))):
            print(*[each.state for each in found])
        print(midwatch.wait_any(["one", "two"]).name)
    """
    assert said(program(office.box, script)) == ["incomplete failed waiting"] * 2 + ["one"]


def test_until_exited(office: Office) -> None:
    office.spawned(prompt="ask")
    script = """
        import asyncio
        from midwatch import aio
        print(midwatch.wait("api", until="exited", timeout=0.1).state)
        print(asyncio.run(aio.wait("api", until="exited", timeout=0.1)).state)

        async def main():
            waiting = asyncio.create_task(aio.wait("api", until="exited"))
            stopping = await asyncio.create_subprocess_exec(sys.executable, "-m", "midwatch", "stop", "api", stdout=-3)
            state = (await waiting).state
            await stopping.wait()
            return state

        print(asyncio.run(main()))
    """
    assert said(program(office.box, script)) == ["waiting", "waiting", "stopped"]


def test_the_verifier_of_a_headless_agent_is_asked(office: Office) -> None:
    done = office.box("spawn", "night", "--agent", "claude", "--headless", "--prompt", "say", "--verify", "false")
    assert done.code == 0
    script = """
        import asyncio
        from midwatch import aio
        print(midwatch.wait("night").state, asyncio.run(aio.wait("night")).state, midwatch.status("night").state)
    """
    assert said(program(office.box, script)) == ["incomplete incomplete completed"]
    assert office.box("wait", "night").code == 6
