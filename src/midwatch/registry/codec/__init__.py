"""The registry file, its rows and the state of `reconcile` as text and values. Pure, with one kind of error."""
