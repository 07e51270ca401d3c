"""Dependency lists and files of virtual environments as values. Pure, with one kind of error."""
