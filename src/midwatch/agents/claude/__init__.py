"""How the agent `claude` is started and read."""
