"""Recorded events and labelled screens as values to be judged again. Pure, with one kind of error."""
