"""Text of others as it may be shown to a person, where it is known as a plain ``str``."""

from midwatch.core.foreign_text import ForeignText


def visible(text: str) -> str:
    """The same text on one line; control characters, odd blanks, invisible and bidirectional marks as escapes."""
    return ForeignText(text).line()
