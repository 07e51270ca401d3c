"""Whether the controller is woken, what is reported of a worker, and quality loops. Pure; time is an argument."""
