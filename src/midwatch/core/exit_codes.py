"""What a state means for whoever waited: an exit code, and what to do next."""

EXIT_CODES = {
    "completed": 0,
    "failed": 1,
    "crashed": 3,
    "stuck": 4,
    "timeout": 5,
    "incomplete": 6,
    "not_found": 7,
    "waiting": 8,
    "limited": 9,
    "stopped": 10,
    "abandoned": 11,
    "unknown": 12,
}
STILL_RUNNING = 13
"""The caller's own --timeout ran out; the state printed is a live one."""

NEXT = {
    "completed": "proceed",
    "crashed": "retry",
    "limited": "retry",
    "stuck": "investigate",
    "not_found": "investigate",
    "unknown": "investigate",
    "failed": "escalate",
    "timeout": "escalate",
    "incomplete": "escalate",
    "waiting": "escalate",
    "abandoned": "escalate",
    "stopped": "none",
    "starting": "wait",
    "working": "wait",
    "idle": "wait",
}

REPORTED = ("stuck", "waiting", "limited")
"""Live states that end a wait although the work goes on."""


def exit_code(state: str) -> int:
    """Code for a state that a wait ended in. A live state without one is what the caller waited for (`--until`)."""
    return EXIT_CODES.get(state, 0)
