"""Text to values and back, for `swarm`: pure, with one kind of error."""
