"""How the agent `program` is started and read."""
