"""Text to values and back, for `stories`: pure, with one kind of error."""
