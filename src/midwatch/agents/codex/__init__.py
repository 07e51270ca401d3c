"""How the agent `codex` is started and read."""
