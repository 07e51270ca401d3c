"""What can be the id of a task in a tracker."""

import re

ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
NO_ID = "is no id of a task: it has letters, digits and . _ -, begins with none of . -, and has at most 64 characters"


def is_id(given: str) -> bool:
    """Whether that can be the id of a task. What cannot is shown as invalid, and nothing is done with it.

    Trackers are written by others, and ids go into messages for agents and into command lines.
    """
    return ID.fullmatch(given) is not None
