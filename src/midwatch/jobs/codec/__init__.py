"""Text to values and back, for `jobs`: pure, with one kind of error."""
