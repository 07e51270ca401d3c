"""Verbs for one agent that leads others: its watchdog, the tasks, the mail between them."""

VERBS: dict[str, dict[str, object]] = {}
