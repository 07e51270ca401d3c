"""Requests to tmux and its replies, control mode and colours. Pure, with one kind of error."""
