"""Text to values and back, for `preflight`: pure, with one kind of error."""
