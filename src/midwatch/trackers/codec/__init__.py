"""Text to values and back, for `trackers`: pure, with one kind of error."""
