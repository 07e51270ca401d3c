"""Logs of steps, answers of a model and story files as values. Pure, with one kind of error."""
