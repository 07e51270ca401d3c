"""Sightings of one pane judged one after the other, as by a watcher who has seen nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dogwatch.agents import detector, sight
from dogwatch.formats.timeline import Given, Header, Truth
from dogwatch.judge import session
from dogwatch.judge.hindsight import Otherwise
from dogwatch.loops import limits
from dogwatch.loops.trials import SETTLED, Detectors
from dogwatch.model.policy import PATIENT, Policy
from dogwatch.model.replay import Row
from dogwatch.model.session import Sighting
from dogwatch.model.turns import Said, SessionMemory

NOBODY_KNEW = "nobody knew what was true"


class Again:
    def __init__(self, policy: Policy, known: Detectors) -> None:
        self.policy = policy
        self.known = known
        self.memory: SessionMemory | None = None
        self.process = (0, 0)
        self.before: Given | None = None
        self.said: tuple[Said, ...] = ()
        """What each source said at the last look."""

    def judge(self, seen: Sighting) -> Given:
        which = self.known[seen.agent]
        found = detector.find((which,), seen.tasks)
        if found is not None and self.process != (found[1].pid, found[1].start):
            self.process, self.memory = (found[1].pid, found[1].start), None  # what is remembered is of its predecessor
        facts = limits.dated(sight.facts(which, seen, seen.pane.id), self.memory)
        self.said = facts.said
        verdict, self.memory = session.judge(facts, self.memory, self.policy)
        return Given(seen.now, verdict.state, verdict.turn, verdict.detail, verdict.reason)

    def given(self, seen: Sighting) -> Given | None:
        """The verdict, if it is another than at the look before; that time goes by is no other."""
        before, self.before = self.before, self.judge(seen)
        return self.before if before is None or _word(before) != _word(self.before) else None


class Replayed:
    """A recorded session judged again: a row wherever the verdict changed, then or now.

    Of evidence against a source every look is a row, with what each source says.
    """

    def __init__(self, known: Detectors, otherwise: Otherwise | None) -> None:
        self.known = known
        self.otherwise = otherwise
        self.agent = ""
        self.looks = 0
        self.given: Given | None = None
        self.truths: list[Truth] = []
        self.says: str | None = None
        """What the sources say at the last look, where that is asked for."""
        self.waiting: list[tuple[float, Row]] = []
        """Rows without a verdict that was given; they are held against what was true until a moment later."""

    def rows(self, items: Iterable[Header | Sighting | Given | Truth]) -> Iterator[Row]:
        again: Again | None = None
        now, changed = None, False
        for item in items:
            if isinstance(item, Truth):
                self.truths.append(item)
                continue
            if not isinstance(item, Given):
                yield from self._row(now, None, changed=changed)
                now, changed = None, False
            if isinstance(item, Header):
                policy = item.policy or PATIENT
                again = Again(self.otherwise.of(policy) if self.otherwise else policy, self.known)
                self.agent = item.agent
                self.says = None if item.doubted is None else ""
            elif isinstance(item, Sighting):
                assert again is not None
                self.looks += 1
                changed = again.given(item) is not None
                now = again.before
                self.says = None if self.says is None else _heard(again.said)
                yield from self._settled(item.now)
            else:
                yield from self._row(now, item, changed=changed)
                now, changed = None, False
        yield from self._row(now, None, changed=changed)
        yield from self._settled(float("inf"))

    def _row(self, now: Given | None, given: Given | None, *, changed: bool) -> Iterator[Row]:
        """What was given at a look beside what is said now; nothing where neither changed."""
        self.given = given or self.given
        if now is None or not (changed or given or self.says):
            return
        note = self.says or ""
        if self.given is None:
            self.waiting.append((now.at, Row(None, _axes(now), at=now.at, event="look", note=note)))
            return
        told = given is not None and self.otherwise is None  # then its reason was noted at this very look
        same = self.given == now if told else _word(self.given) == _word(now)
        yield Row(_axes(self.given), _axes(now), note=note, at=now.at, event="look", differs=not same)

    def _settled(self, now: float) -> Iterator[Row]:
        """Rows by which enough time has gone to hold them against the truth."""
        while self.waiting and self.waiting[0][0] + SETTLED < now:
            at, row = self.waiting.pop(0)
            before = [truth.turn for truth in self.truths if truth.at <= at - SETTLED][-1:]
            around = [truth.turn for truth in self.truths if at - SETTLED < truth.at <= at + SETTLED]
            true, said = before + around, row.now or {}
            read = "stuck" if said["state"] == "stuck" else said["turn"]
            if not true:
                yield row
                continue
            shown = str(read) if read in true else next((turn for turn in reversed(true) if turn), "")
            unknown = NOBODY_KNEW if read not in true and "" in true else ""
            yield row._replace(truth=shown, uncertain=unknown, differs=read not in true and not unknown)


def _word(given: Given) -> tuple[str, ...]:
    return given.state, given.turn, given.detail


def _heard(said: tuple[Said, ...]) -> str:
    heard = [f"{each.source} says {each.turn}, by rule {each.rule}" for each in said]
    return "; ".join(heard) or "no source says anything"


def _axes(given: Given) -> dict[str, object]:
    return {"state": given.state, "turn": given.turn, "detail": given.detail, "reason": given.reason}
