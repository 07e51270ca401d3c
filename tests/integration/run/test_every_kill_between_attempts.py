"""A kill of the shim at every step from the end of one attempt to the end of the next: never a wrong verdict."""

from __future__ import annotations

import contextlib
import re
import signal

import pytest

from tests.conftest import Box, until_gone
from tests.integration.run.test_every_kill import Run, Step, parsed, walk

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # a launched shim execs at once

WORK = "N=$MIDWATCH_ATTEMPT; echo $N >> {mark}; [ $N = 2 ] && exit 0; setsid sh -c 'read line < {never}' & exit 3"
"""Fails once, leaves a child behind, succeeds the second time."""


class Retried(Run):
    def __init__(self, box: Box, name: str) -> None:
        super().__init__(box, name, work=WORK)
        self.job = self.job._replace(retries=1, backoff_s=0.0)

    def attempts(self) -> list[str]:
        return self.mark.read_text().split() if self.mark.exists() else []

    def seen_to_end(self) -> list[str]:
        """How the shim saw the works end, in order."""
        ends = re.finditer(rb"^wait4\((\d+), \[\{(WIFEX[^}]*|WIFSIG[^}]*)\}\]", self.trace, re.MULTILINE)
        return [end[2].decode() for end in ends if int(end[1]) in self.works()]

    def works(self) -> list[int]:
        """Pids of the two works: a judge is forked between them."""
        forked = self.forked
        return [pid for nth, pid in enumerate(forked) if nth in (0, 2)]


def run_killed(run: Retried, step: Step | None) -> None:
    run.launch_traced(step, signal.SIGKILL)
    run.read_trace()
    run.reap()


def test_a_shim_killed_between_attempts_never_makes_the_verdict_lost_or_wrong(box: Box) -> None:
    with contextlib.closing(Retried(box, "unharmed")) as run:
        run_killed(run, None)
        assert run.final().state == "completed"
        assert run.attempts() == ["1", "2"]
        ended = re.search(rb"^wait4\(%d, " % run.works()[0], run.trace, re.MULTILINE)
        assert ended is not None
        steps = list(parsed(run.trace[: ended.start()], 0))
        later = list(parsed(run.trace, 0))[len(steps) :]

    def harm(step: Step) -> bool:
        with contextlib.closing(Retried(box, f"{step.call}-{step.nth}")) as run:
            run_killed(run, step)
            for pid in run.works():
                until_gone(pid)
            verdict, ends = run.final(), run.seen_to_end()
            assert verdict.final, verdict
            assert verdict.state in ("failed", "crashed", "completed"), verdict
            if verdict.state == "completed" and not run.record()["end"].get("unsupervised"):
                assert "== 0" in ends[1], ends
            if verdict.state == "failed":
                assert verdict.exit_code == 3, verdict
                assert "2" not in run.attempts(), "the second attempt ran, and the first one's end is told"
            left = [pid for pid in run.alive() if not any(f"({pid})" in said.says for said in verdict.against)]
            assert not left, f"{left} live on and the verdict does not say so: {verdict}"
            return run.killed

    walk(later, harm)
