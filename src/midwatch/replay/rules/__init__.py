"""Decisions of `replay`: pure, and time is an argument."""
