"""Command lines of other programs, for scripts that call those. What they print and their exit codes are as
published; the verdicts behind them are ours. docs/reference/story-automator.md says what differs.
"""
