"""The text of a notification and the files of the outbox. Pure, with one kind of error."""
