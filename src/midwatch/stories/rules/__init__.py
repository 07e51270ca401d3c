"""Decisions of `stories`: pure, and time is an argument."""
