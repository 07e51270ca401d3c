"""Text to values and back, for `registry`: pure, with one kind of error."""
