"""Events that agents report through hooks: the hook script, its spool, and turns read from it."""
