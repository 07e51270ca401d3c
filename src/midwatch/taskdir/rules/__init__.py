"""Decisions of `taskdir`: pure, and time is an argument."""
