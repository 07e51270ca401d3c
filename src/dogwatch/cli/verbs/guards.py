"""Verbs that keep a loop from burning a night: checks before work, breakers, trust."""

VERBS: dict[str, dict[str, object]] = {}
