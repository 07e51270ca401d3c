"""Text to values and back, for `replay`: pure, with one kind of error."""
