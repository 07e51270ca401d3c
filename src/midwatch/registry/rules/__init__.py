"""Decisions of `registry`: pure, and time is an argument."""
