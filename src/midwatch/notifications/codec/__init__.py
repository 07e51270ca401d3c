"""Text to values and back, for `notifications`: pure, with one kind of error."""
