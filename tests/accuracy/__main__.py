"""Prints how often Dogwatch is right, as tables."""

from tests.accuracy import report

print(report.full(report.judge_all()))
