"""Text of others as it may be shown to a person: nothing in it can move the cursor, hide, or turn around."""

ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e"}


def visible(text: str) -> str:
    """The same text on one line; control characters, odd blanks, invisible and bidirectional marks as escapes."""
    return text if text.isprintable() else "".join([c if c.isprintable() else _escape(c) for c in text])


def _escape(character: str) -> str:
    return ESCAPES.get(character) or character.encode("unicode_escape").decode("ascii")
