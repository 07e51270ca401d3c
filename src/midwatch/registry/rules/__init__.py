"""How the registry differs from what is there, and what is written into a row. Pure; time is an argument."""
