"""The files of a job and lines of its log as text and as values. Pure, with one kind of error."""
