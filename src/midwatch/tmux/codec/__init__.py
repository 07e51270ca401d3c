"""Text to values and back, for `tmux`: pure, with one kind of error."""
