"""Decisions of `sessions`: pure, and time is an argument."""
