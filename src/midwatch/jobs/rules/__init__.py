"""Decisions of `jobs`: pure, and time is an argument."""
