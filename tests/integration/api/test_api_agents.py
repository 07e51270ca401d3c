"""Starting, prompting and watching agents from Python, with a stand-in for one."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

import midwatch
from tests.integration.answer.conftest import AskingAgent
from tests.integration.api.programs import program, said, started
from tests.integration.spawn.office import Office

SPAWN = "midwatch.spawn('api', agent='claude', socket={socket!r}, {more})"


def spawn(office: Office, more: str = "") -> str:
    return SPAWN.format(socket=str(office.tmux.socket), more=more)


def test_an_agent_is_started_given_a_prompt_and_stopped(office: Office) -> None:
    script = f"""
        begun = {spawn(office, "prompt='ask'")}
        print(begun.name, begun.kind, midwatch.wait(begun).state)
        print([each.kind for each in midwatch.ls()], midwatch.stop(begun).state)
        print(signals() == before)
    """
    prelude = "import signal\nsignals = lambda: [signal.getsignal(n) for n in (1, 2, 3, 15)]\nbefore = signals()\n"
    found = said(program(office.box, prelude + textwrap.dedent(script)))
    assert found == ["api session waiting", "['session'] stopped", "True"]
    assert office.typed()


def test_a_prompt_that_does_not_arrive_is_an_error_and_the_agent_runs(office: Office) -> None:
    office.begin("trust")
    script = f"""
        try:
            {spawn(office, "prompt='say'")}
        except midwatch.PromptError as error:
            print(error.verdict.state, error.result.outcome, error.result.delivered)
        print(midwatch.status("api").process)
    """
    assert said(program(office.box, script)) == ["waiting waiting False", "alive"]


def test_an_agent_that_is_not_there_has_failed_and_is_no_exception(office: Office) -> None:
    (office.home / "bin" / "claude").unlink()
    script = f"""
        ended = {spawn(office, "prompt='say'")}
        print(ended.state, ended.exit_code)
    """
    assert said(program(office.box, script, PATH="/usr/bin:/bin")) == ["failed 127"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("name='two words', agent='claude'", "the name 'two words'"),
        ("name='api', agent='nobody'", "agent is one of"),
        ("name='api', agent='program'", "needs a command in args"),
        ("name='api', agent='claude', cwd='/no/such'", "cwd: there is no directory"),
        ("name='api', agent='claude', prompt='a', prompt_file='b'", "prompt and prompt_file"),
        ("name='api', agent='claude', prompt_file='/no/such'", "prompt_file /no/such"),
        ("name='api', agent='claude', headless=True", "headless needs prompt"),
        ("name='api', agent='claude', resume=1", "resume is for the monitor that watch leaves behind"),
        ("name='api', agent='claude', headless=True, watch=True, prompt='a'", "watch is for a session"),
    ],
)
def test_what_is_wrong_with_a_start_is_said_in_words_of_the_api(office: Office, wrong: str, words: str) -> None:
    script = f"""
        try:
            midwatch.spawn({wrong})
        except midwatch.UsageError as error:
            print({words!r} in str(error), "--" in str(error), str(error))
    """
    found = said(program(office.box, script))[0]
    assert found.startswith("True False"), found


def test_a_prompt_is_sent_and_its_outcome_is_a_value(office: Office) -> None:
    office.spawned()
    script = """
        sent = midwatch.send("api", "ask", wait="30s")
        print(sent.outcome, sent.delivered, midwatch.wait("api").state)
        again = midwatch.send("api", "go on")
        print(again.outcome, again.typed)
        print(midwatch.send("nobody", "go on").outcome)
    """
    assert said(program(office.box, script)) == ["delivered True waiting", "waiting False", "exited"]


def test_a_dialog_is_shown_and_answered(office: Office, tmp_path: Path) -> None:
    asking = AskingAgent(office.tmux, tmp_path / "agent").start("touch marker")
    script = f"""
        def answer(*words, **named):
            return midwatch.answer({asking.pane!r}, *words, socket={str(office.tmux.socket)!r}, **named)
        found = answer()
        print(found.outcome, found.dialog.kind, [choice.number for choice in found.dialog.list.choices])
        other = answer(3, dialog="another")
        print(other.outcome, other.pressed)
        done = answer(3, dialog=found.dialog.id)
        print(done.outcome, done.choice.number, [event.event for event in midwatch.events()])
    """
    assert said(program(office.box, script)) == [
        "open permission [1, 2, 3]", "other-dialog False", "answered 3 ['answer', 'answered']",
    ]  # fmt: skip
    assert asking.read("taken") == "touch marker: No\n"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("'api', 0", "choice is the number"), ("'api', 1.5", "choice is the number"),
        ("'api', dialog='x'", "name a choice"), ("'api', 1, text='a' * 3000", "text takes one line"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_answer_is_said_in_words_of_the_api(office: Office, wrong: str, words: str) -> None:
    script = f"""
        try:
            midwatch.answer({wrong})
        except midwatch.UsageError as error:
            print({words!r} in str(error), "--" in str(error), str(error))
    """
    found = said(program(office.box, script))[0]
    assert found.startswith("True False"), found


def test_a_monitor_is_left_behind_and_is_no_child(office: Office) -> None:
    script = f"""
        begun = {spawn(office, "prompt='work', watch=True, resume=2")}
        print(begun.state, [(each.name, each.state) for each in midwatch.ls()], children())
    """
    found = said(program(office.box, script))[0]
    assert found == "working [('api', 'working'), ('api.monitor', 'working')] []"
    command = office.box.record("api.monitor")["command"]
    assert command[command.index("--resume") + 1] == "2"
    office.box("stop", "api.monitor", "api")


def test_a_session_is_watched_and_brought_back(office: Office) -> None:
    office.spawned(prompt="work")
    office.resumed("ask")
    script = """
        said = []
        over = midwatch.monitor("api", resume=1, on_change=said.append)
        print(over.state, [each.state for each in said])
    """
    with started(office.box, script) as running:
        office.until_watched("working")
        office.go("die 9")
        found = said(running.done())
    assert found[0].startswith("waiting ['working'"), found
    assert len(office.starts()) == 2


def test_a_watch_that_is_cancelled_ends_and_the_session_goes_on(office: Office) -> None:
    office.spawned(prompt="work")
    script = """
        import asyncio, gc, threading
        from midwatch import aio
        async def main():
            first = asyncio.Event()
            watching = asyncio.create_task(aio.monitor("api", on_change=lambda verdict: first.set()))
            await first.wait()
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            return watching.cancelled()
        before = fds()
        over = asyncio.run(main())
        gc.collect()  # what is held of the agent's process goes with the monitor
        print(over, fds() == before, threading.active_count(), midwatch.status("api").state)
    """
    assert said(program(office.box, script)) == ["True True 1 working"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("'api', deadline=0", "deadline must be above 0"),
        ("'api', resume=-1", "resume is a number"),
        ("'api', continues=-1", "continues is a number"),
        ("'api', until='lunch'", "until is one of"),
        ("'%0', cleanup=True", "cleanup closes a session"),
    ],
)
def test_what_is_wrong_with_a_watch_is_said_in_words_of_the_api(office: Office, wrong: str, words: str) -> None:
    script = f"""
        try:
            midwatch.monitor({wrong})
        except midwatch.UsageError as error:
            print({words!r} in str(error), "--" in str(error), str(error))
    """
    found = said(program(office.box, script))[0]
    assert found.startswith("True False"), found


def test_the_error_of_a_prompt_is_one_of_ours() -> None:
    assert issubclass(midwatch.PromptError, midwatch.MidwatchError)
