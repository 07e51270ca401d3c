"""How the agent `agy` is started and read."""
