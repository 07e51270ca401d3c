"""Decisions of `preflight`: pure, and time is an argument."""
