"""Every face is asked about the same session in every state, and all must say the same.

`ls`, `show`, `why` and `status()` tell the live state. `wait`, `monitor`, `wait()` and `aio.wait()` tell the outcome.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from midwatch.core.exit_codes import EXIT_CODES, STILL_RUNNING
from tests.conftest import kill, reap, until_gone
from tests.integration.api.programs import said, started
from tests.integration.spawn.office import Office
from tests.integration.wait.watching import forge

COMPARED = ("kind", "state", "final", "cause", "exit_code", "signal", "message", "next")
Said = dict[str, Any]


class Scene(NamedTuple):
    prompt: str
    live: tuple[str, str | None]
    """State and cause that the faces for the present must tell."""
    outcome: tuple[str, str | None] | None
    """State and cause that the faces for the outcome must tell; None: they go on waiting."""
    then: Callable[[Office], None] = lambda _: None
    """What happens before anybody is asked."""
    spawn: tuple[str, ...] = ()
    monitor: tuple[str, ...] = ()


def ended(office: Office) -> None:
    until_gone(office.box.pids("api")[0])


def suspended(office: Office) -> None:
    kill(office.box.pids("api")[1], signal.SIGSTOP)


def killed(office: Office) -> None:
    shim, work = office.box.pids("api")
    kill(shim, signal.SIGKILL)
    until_gone(shim)  # by tmux, whose child it is
    kill(work, signal.SIGKILL)
    reap(work)


def stopped(office: Office) -> None:
    assert office.box("stop", "api").code == 0


def elsewhere(office: Office) -> None:
    """Its record is that of another container: nobody here can see its processes."""
    forge(office.box, "api", pidns="pid:[1]")


def found_stuck(office: Office) -> None:
    """A monitor has come to it: how patient it was is written down, and what it remembers."""
    assert office.monitor("api", *IMPATIENT).end()["state"] == "stuck"


IMPATIENT = ("--stale", "2s", "--grace", "1s")
SCENES = {
    "at its prompt": Scene("", ("idle", "at-prompt"), None),
    "working": Scene("work", ("working", "model"), None),
    "background work": Scene("shell", ("idle", "background-work"), None),
    "permission": Scene("ask", ("waiting", "permission"), ("waiting", "permission")),
    "question": Scene("question", ("waiting", "question"), ("waiting", "question")),
    "limit": Scene("limit 5pm (UTC)", ("limited", "limit"), ("limited", "limit")),
    "turn ended": Scene("say", ("idle", "turn-ended"), ("completed", "turn-ended")),
    "turn failed": Scene("fail", ("idle", "turn-failed"), ("failed", "turn-failed")),
    "interrupted": Scene("stop", ("waiting", "interrupted"), ("waiting", "interrupted")),
    "verified": Scene("say", ("idle", "turn-ended"), ("completed", "verified"), spawn=("--verify", "true")),
    "not verified": Scene("say", ("idle", "turn-ended"), ("incomplete", "not-verified"), spawn=("--verify", "false")),
    "suspended": Scene("work", ("waiting", "suspended"), ("waiting", "suspended"), suspended),
    "stuck": Scene("work", ("stuck", "no-progress"), ("stuck", "no-progress"), found_stuck, monitor=IMPATIENT),
    "exited": Scene("bye 0", ("completed", "exit"), ("completed", "exit"), ended),
    "exited with an error": Scene("exit 3", ("failed", "exit"), ("failed", "exit"), ended),
    "crashed": Scene("die 9", ("crashed", "signal"), ("crashed", "signal"), ended),
    "killed with its shim": Scene("work", ("crashed", "no-status"), ("crashed", "no-status"), killed),
    "out of sight": Scene("work", ("unknown", "not-seen"), ("unknown", "not-seen"), elsewhere),
    "stopped": Scene("work", ("stopped", "stop-asked"), ("stopped", "stop-asked"), stopped),
}
PROGRAM = """
    import asyncio
    from midwatch import aio
    ask = {
        "status": lambda: midwatch.status("api"),
        "wait": lambda: midwatch.wait("api", timeout=TIMEOUT),
        "aio": lambda: asyncio.run(aio.wait("api", timeout=TIMEOUT)),
    }
    print(midwatch.as_json(ask[FACE]()))
"""


def compared(found: Said) -> Said:
    return {key: found.get(key) for key in COMPARED}


def live_faces(office: Office) -> dict[str, Said]:
    """What each face for the present says."""
    box = office.box
    shown = box("show", "api", "--json").json["verdict"]
    with started(box, PROGRAM, FACE="status", TIMEOUT=None) as program:
        status = said(program.done())[0]
    found = {"ls": box("ls", "--json").json, "show": shown, "why": box("why", "api", "--json").json}
    return {face: compared(each) for face, each in {**found, "status()": json.loads(status)}.items()}


def outcome_faces(office: Office, scene: Scene, timeout: float | None) -> tuple[dict[str, Said], dict[str, int]]:
    """What each face for the outcome says, all asked at the same time; and the exit codes of the two verbs."""
    box = office.box
    given = ["--timeout", f"{timeout}s"] if timeout else []
    deadline = ["--deadline", f"{timeout}s"] if timeout else []
    with (
        started(box, PROGRAM, FACE="wait", TIMEOUT=timeout) as blocking,
        started(box, PROGRAM, FACE="aio", TIMEOUT=timeout) as coroutine,
    ):
        verbs = {"wait": office.wait("api", *given), "monitor": office.monitor("api", *scene.monitor, *deadline)}
        ends = {verb: watcher.end() for verb, watcher in verbs.items()}
        programs = {"wait()": blocking, "aio.wait()": coroutine}
        found = {face: json.loads(said(program.done())[0]) for face, program in programs.items()}
    faces = {face: compared(each) for face, each in {**ends, **found}.items()}
    return faces, {verb: end["code"] for verb, end in ends.items()}


@pytest.mark.usefixtures("heir")
@pytest.mark.parametrize("name", SCENES)
def test_every_face_says_the_same_of_a_session(office: Office, name: str) -> None:
    scene = SCENES[name]
    office.spawned("api", *scene.spawn, prompt=scene.prompt)
    scene.then(office)
    office.until_state(scene.live[0])
    live = live_faces(office)
    first = live["why"]
    assert live == dict.fromkeys(live, first)
    assert (first["state"], first["cause"]) == scene.live
    typed = office.typed()
    if scene.outcome is not None:
        found, codes = outcome_faces(office, scene, None)
        assert found == dict.fromkeys(found, found["monitor"])
        assert (found["wait"]["state"], found["wait"]["cause"]) == scene.outcome
        assert codes == dict.fromkeys(codes, EXIT_CODES[scene.outcome[0]])
    else:
        found, codes = outcome_faces(office, scene, 2.0)
        assert found.pop("monitor")["state"] == "abandoned"
        assert found == dict.fromkeys(found, first)
        assert codes == {"wait": STILL_RUNNING, "monitor": EXIT_CODES["abandoned"]}
    assert office.typed() == typed
    assert len(office.starts()) == 1
    assert office.sessions() == ["api"]
