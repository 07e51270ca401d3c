"""Decisions of `swarm`: pure, and time is an argument."""
