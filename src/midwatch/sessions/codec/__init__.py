"""Text to values and back, for `sessions`: pure, with one kind of error."""
