"""Text to values and back, for `integrations`: pure, with one kind of error."""
