"""Text to values and back, for `config`: pure, with one kind of error."""
