"""Typing into a pane so that the prompt arrives, and proving that it did."""
