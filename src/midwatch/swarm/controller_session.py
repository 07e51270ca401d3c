"""The session that a watchdog looks after: its controller, its workers, its tracker, its mail, as they really are."""

from __future__ import annotations

import os
import re
import shlex
import sys
import time

from midwatch.config import paths, trust
from midwatch.config.model import Settings
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.pane_model import Pane
from midwatch.core.prompt_text import LONGEST_LINE, format_id, make_prompt_safe, quote_title
from midwatch.mail import store as mail_store
from midwatch.sessions.model import PanesObservation
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import recover, send, undelivered_store
from midwatch.sessions.prompting.rules.recovery import RESUME
from midwatch.swarm import quality
from midwatch.swarm.codec import tick_message
from midwatch.swarm.model import NOBODY, DeliveryResult, MessageRecipient, SessionSnapshot, WorkerState
from midwatch.swarm.rules import worker
from midwatch.system.atomic_files import read_plain
from midwatch.tmux import client as tmux_client
from midwatch.tmux import pane_location
from midwatch.tmux.codec import commands as codec
from midwatch.trackers.model import Tracker, Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from midwatch.swarm.watchdog import WatchdogRequest

LARGEST = 1 << 16
"""Bytes of a prompt's template."""
PATIENCE = 20.0
"""Seconds in which a controller that starts may come to its prompt; else it is tried again at the next look."""
TRIES, HOUR = 3, 3600.0
"""How often a controller that ends is resumed within an hour: one that ends at once would be for ever."""
OWN_PING = 60.0
"""Seconds after which a report is told of that nobody has read: its own ping comes first."""


class ControllerSession:
    def __init__(
        self, asked: WatchdogRequest, settings: Settings, tracker: Tracker, panes: PaneObserver,
        log: Callable[[str], None], stopped: Callable[[], bool], own: str | None = None,
    ) -> None:  # fmt: skip
        """``own``: the pane of the watchdog, which is none of the agents; the one that this runs in unless given."""
        self.asked, self.settings, self.tracker = asked, settings, tracker
        self.panes, self.log, self.stopped = panes, log, stopped
        self.controller: tuple[str, int] | None = None
        """Pane and pid of its first process: once found it stays the one, whatever its title becomes."""
        self._pattern = compile_title(asked.title)
        self._own = os.environ.get("TMUX_PANE", "") if own is None else own
        self._called: dict[str, str] = {}
        """Names of windows, by pane, when they were last asked for."""
        self._distrusted: dict[str, str] = {}
        """By setting, why it does not count."""
        self._path = ""
        self._state = "", ""
        """Pane and state of the controller at the last look."""
        self._resumed: list[float] = []
        self._steps: list[str] = []
        """What the last attempt to make it ready came to."""

    def now(self) -> float:
        return time.monotonic()

    # The work

    def work(self) -> Work:
        return self.tracker.read()

    def ensure(self) -> None:
        if self.asked.dry or not self._trusted("ensure_quality"):
            return
        try:
            for made in quality.make_companions(self.tracker, self.asked.beads):
                self.log(f"companion-made {made}")
        except RefusedError as error:
            self.log(f"companion-failed {make_prompt_safe(str(error), LONGEST_LINE)}")

    def _trusted(self, key: str) -> object:
        """A setting that makes us act; why a project's does not count is said once."""
        found, problem = trust.trusted_value(self.settings, key)
        if problem and problem != self._distrusted.get(key):
            self.log(f"not-trusted {key}: {problem}; until then it does not count")
        self._distrusted[key] = problem
        return found

    def mail(self) -> tuple[str, ...]:
        """Reports that wait for the controller, by what they are about."""
        try:
            place, wrong = mail_store.collect_mail(self.asked.project)
            for line in wrong:
                self.log(f"mail-failed {make_prompt_safe(line, LONGEST_LINE)}")
            unread = mail_store.read_unread(place, "controller")
        except (RefusedError, OSError) as error:
            self.log(f"mail-failed {make_prompt_safe(str(error), LONGEST_LINE)}")
            return ()
        old = [each for each in unread if time.time() - each.at >= OWN_PING]
        return tuple([
            f"{format_id(each.id)} about {format_id(each.task.raw) if each.task else quote_title(each.subject.raw)}"
            for each in old
        ])  # fmt: skip

    def has_loops(self) -> bool:
        return self.tracker.has_loops

    def flag(self) -> str:
        """What the controller must add to find the project, unless it is in it."""
        root = paths.main_worktree(self.asked.project)
        return "" if self._path and paths.main_worktree(self._path) == root else f"--project-dir {shlex.quote(root)}"

    # The panes

    def observe(self) -> SessionSnapshot:
        looked = self.panes.observe(passed=lambda pane: not codec.is_in_session(pane, self.asked.session))
        if looked.trouble:
            return SessionSnapshot("", looked.trouble, "", (), seen=looked.cause == codec.ABSENT)
        inside = [
            pane for pane in looked.panes if codec.is_in_session(pane, self.asked.session) and pane.id != self._own
        ]
        states = {seen.sighting.pane.id: worker.worker_state(seen.verdict) for seen in looked.seen}
        controller, trouble = self._found(inside, states)
        self._path = next((pane.path for pane in inside if pane.id == controller), "")
        workers = [
            WorkerState(seen.sighting.pane.id, seen.sighting.agent, states[seen.sighting.pane.id])
            for seen in looked.seen
            if seen.sighting.pane.id not in (controller, self._own)
        ]
        state = states.get(controller, "")
        self._notice(controller, state, looked)
        return SessionSnapshot(controller, trouble, state, tuple(workers), recipient=self._recipient(controller))

    def _recipient(self, controller: str) -> MessageRecipient:
        """Who is in that pane, or was there last."""
        known = self.panes.known.get(controller)
        return MessageRecipient(known.conversation, f"{known.process[0]}:{known.process[1]}") if known else NOBODY

    def _found(self, inside: list[Pane], states: dict[str, str]) -> tuple[str, str]:
        """The pane that was found before, as long as it is there; else the only one that fits.

        A pane without an agent that runs gives way to the only one that fits and has one.
        """
        if self.controller is not None and self.controller not in {(pane.id, pane.pid) for pane in inside}:
            self.log(f"controller-gone {self.controller[0]}")
            self.controller = None
        running = [pane for pane in inside if states.get(pane.id, worker.ENDED) not in worker.GONE]
        fits: list[Pane] = []
        if self.controller is None:
            fits = self._fitting(inside, states)
        if len(fits) > 1 or (self.controller is not None and self.controller[0] not in {pane.id for pane in running}):
            fits = self._fitting(running, states) or fits
        if len(fits) == 1:
            self.controller = (fits[0].id, fits[0].pid)
            name = fits[0].title if self._pattern.search(fits[0].title) else f"in window {self._called[fits[0].id]}"
            self.log(f"controller-found {fits[0].id} {make_prompt_safe(name)}")
        if self.controller is not None:
            return self.controller[0], ""
        if not inside:
            return "", f"no-session {self.asked.session}"
        several = f"multiple-controller-pane-matches {' '.join([pane.id for pane in fits])}"
        return "", several if fits else "no-controller-pane"

    def _fitting(self, panes: list[Pane], states: dict[str, str]) -> list[Pane]:
        """Panes whose title fits. Where none does, agents in windows whose name does: many agents set their title."""
        fits = [pane for pane in panes if self._pattern.search(pane.title) and not pane.dead]
        if fits or not panes:
            return fits
        self._called = pane_location.window_names(self.panes.tmux.server, self.asked.session)
        return [pane for pane in panes if pane.id in states and self._pattern.search(self._called.get(pane.id, ""))]

    def _notice(self, controller: str, state: str, looked: PanesObservation) -> None:
        """Say when the agent in the controller's pane ends, and when one is back."""
        ended = state in worker.GONE
        pane, before = self._state
        if controller == pane and state and before and ended != (before in worker.GONE):
            verdict = next(seen.verdict for seen in looked.seen if seen.sighting.pane.id == controller)
            why = make_prompt_safe(verdict.reason, LONGEST_LINE)
            self.log(f"controller-{'ended' if ended else 'back'} {controller}: {why}")
        self._state = controller, state

    # Telling

    def template(self) -> str:
        """Somebody's own words, as they are now. RefusedError where they cannot be read, or are not trusted."""
        given = self.settings.watchdog_prompt
        if given is None:
            return tick_message.TICK
        if problem := trust.find_problem(given.source.rpartition(":")[0]):
            raise RefusedError(problem)
        path = os.path.join(self.asked.project, os.path.expanduser(given.words))
        try:
            return read_plain(path, LARGEST, follow=True).decode("utf-8", "replace")
        except OSError as error:
            raise RefusedError(f"{path} cannot be read: {error.strerror}") from error

    def deliver(self, pane: str, text: str) -> DeliveryResult:
        """Make the pane ready if that can be, and type there; what became of it."""
        ready = self._recovered(pane)
        if not ready.ready:
            return DeliveryResult(taken=False, proven=False, reason=ready.reason)
        via = str(self._trusted("send_via"))
        sent = send.send_prompt(self.panes, pane, text, stopped=self.stopped, alone=True, via=via)
        if sent.submitted:
            self._settle(pane)
        return DeliveryResult(taken=sent.submitted, proven=sent.delivered, reason=sent.reason, left=sent.left)

    def submit(self, pane: str) -> str:
        """Send what we have left in its box: `sent`, `lost` where it does not stand there, empty where it must wait."""
        ready = self._recovered(pane)
        if not self._notes(pane):
            return "sent"
        if ready.ready:
            self._settle(pane)
            return "lost"
        return ""

    def _recovered(self, pane: str) -> recover.Readiness:
        steps: list[str] = []
        now = self.now()
        self._resumed = [at for at in self._resumed if now - at < HOUR]
        if len(self._resumed) < TRIES:
            ready = recover.recover_pane(self.panes, pane, steps.append, limit=PATIENCE, stopped=self.stopped)
            self._resumed += [now] * (RESUME in ready.tried)
        else:
            ready = recover.check_readiness(self.panes, pane)
            steps.append(f"recover {pane} given-up: it was resumed {TRIES} times within an hour; {ready.reason}")
        if steps != self._steps:  # a controller that works for an hour is no news every time
            for step in steps:
                self.log(make_prompt_safe(step, LONGEST_LINE))
        self._steps = steps
        return ready

    @staticmethod
    def show(text: str) -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    def _settle(self, pane: str) -> None:
        """What did not arrive earlier is said by what just did, or will be said anew."""
        for note in self._notes(pane):
            undelivered_store.drop_note(note.id)

    def _notes(self, pane: str) -> list[undelivered_store.UndeliveredPrompt]:
        """Messages of ours that did not arrive there."""
        found = undelivered_store.read_notes(tmux_client.socket_path(self.panes.tmux.server), pane)
        return [note for note in found if tick_message.mark_prefix(self.asked.session) in note.text]


def compile_title(title: str) -> re.Pattern[str]:
    try:
        return re.compile(title, re.IGNORECASE)
    except re.error as error:
        raise UsageError(f"--controller-title-regex {title!r} is no regular expression: {error}") from None
