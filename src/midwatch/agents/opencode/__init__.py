"""How the agent `opencode` is started and read."""
