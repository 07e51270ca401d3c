"""A recorded session judged again, beside what was said of it then and what was true."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from midwatch.agents.catalog import Detectors
from midwatch.agents.turn_model import SourceReading
from midwatch.core.pane_model import Observation
from midwatch.core.policy import PATIENT
from midwatch.replay.golden_runner import SETTLED
from midwatch.replay.model import OtherPolicy, ReplayRow
from midwatch.sessions.codec.recording import GivenVerdict, RecordedTruth, RecordingHeader
from midwatch.sessions.replayer import SessionReplayer, verdict_words

NOBODY_KNEW = "nobody knew what was true"


class SessionReplay:
    """A recorded session judged again: a row wherever the verdict changed, then or now.

    Of evidence against a source every look is a row, with what each source says.
    """

    def __init__(self, known: Detectors, otherwise: OtherPolicy | None) -> None:
        self.known = known
        self.otherwise = otherwise
        self.agent = ""
        self.looks = 0
        self.given: GivenVerdict | None = None
        self.truths: list[RecordedTruth] = []
        self.says: str | None = None
        """What the sources say at the last look, where that is asked for."""
        self.waiting: list[tuple[float, ReplayRow]] = []
        """Rows without a verdict that was given; they are held against what was true until a moment later."""

    def rows(
        self, items: Iterable[RecordingHeader | Observation | GivenVerdict | RecordedTruth]
    ) -> Iterator[ReplayRow]:
        again: SessionReplayer | None = None
        now, changed = None, False
        for item in items:
            if isinstance(item, RecordedTruth):
                self.truths.append(item)
                continue
            if not isinstance(item, GivenVerdict):
                yield from self._row(now, None, changed=changed)
                now, changed = None, False
            if isinstance(item, RecordingHeader):
                policy = item.policy or PATIENT
                again = SessionReplayer(self.otherwise.apply_to(policy) if self.otherwise else policy, self.known)
                self.agent = item.agent
                self.says = None if item.doubted is None else ""
            elif isinstance(item, Observation):
                assert again is not None
                self.looks += 1
                changed = again.given(item) is not None
                now = again.before
                self.says = None if self.says is None else _format_sources(again.said)
                yield from self._settled(item.now)
            else:
                yield from self._row(now, item, changed=changed)
                now, changed = None, False
        yield from self._row(now, None, changed=changed)
        yield from self._settled(float("inf"))

    def _row(self, now: GivenVerdict | None, given: GivenVerdict | None, *, changed: bool) -> Iterator[ReplayRow]:
        """What was given at a look beside what is said now; nothing where neither changed."""
        self.given = given or self.given
        if now is None or not (changed or given or self.says):
            return
        note = self.says or ""
        if self.given is None:
            self.waiting.append((now.at, ReplayRow(None, _verdict_axes(now), at=now.at, event="look", note=note)))
            return
        told = given is not None and self.otherwise is None  # then its reason was noted at this very look
        same = self.given == now if told else verdict_words(self.given) == verdict_words(now)
        yield ReplayRow(
            _verdict_axes(self.given), _verdict_axes(now), note=note, at=now.at, event="look", differs=not same
        )

    def _settled(self, now: float) -> Iterator[ReplayRow]:
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


def _format_sources(said: tuple[SourceReading, ...]) -> str:
    heard = [f"{each.source} says {each.turn}, by rule {each.rule}" for each in said]
    return "; ".join(heard) or "no source says anything"


def _verdict_axes(given: GivenVerdict) -> dict[str, object]:
    return {"state": given.state, "turn": given.turn, "detail": given.detail, "reason": given.reason}
