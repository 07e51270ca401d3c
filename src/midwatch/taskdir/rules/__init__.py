"""The state of a task directory, and what its monitor does about it. Pure; time is an argument."""
