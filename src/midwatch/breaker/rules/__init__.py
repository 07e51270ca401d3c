"""Whether a breaker lets a run start, and how long to wait between attempts. Pure; time is an argument."""
