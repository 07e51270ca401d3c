"""What one call reports to the terminal that it runs in, from its start to the last of its outcomes."""

from __future__ import annotations

from midwatch.core.verdict import Verdict
from midwatch.terminal import rules
from midwatch.terminal.report_model import ProgramReport


class CallReports:
    """Says what to report. What has ended counts in all that is reported later."""

    def __init__(self) -> None:
        self._ended: list[ProgramReport] = []

    def started(self, name: str) -> ProgramReport:
        return rules.start_report(name)

    def ongoing(self, live: list[Verdict], pending: int) -> ProgramReport:
        """While ``pending`` subjects are waited for, of which some are known as they are now."""
        return rules.progress_report(live, pending, self._ended)

    def add_outcome(self, verdict: Verdict, code: int) -> None:
        """How a subject ended for a caller who gets this exit code."""
        self._ended.append(rules.outcome_report(verdict, code))

    def add_run_outcome(self, verdict: Verdict) -> None:
        """How work in the foreground ended."""
        self._ended.append(rules.run_outcome_report(verdict))

    def last(self) -> ProgramReport | None:
        """The report of all outcomes; None before there is one."""
        return rules.overall_report(self._ended) if self._ended else None

    def broken_off(self) -> ProgramReport:
        """The report of a call that ends without an outcome: nothing of it is to stay."""
        return rules.CLEAR
