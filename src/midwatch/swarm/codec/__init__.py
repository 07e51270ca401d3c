"""The watchdog's message, its state file and the text of an assignment. Pure, with one kind of error."""
