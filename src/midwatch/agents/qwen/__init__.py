"""How the agent `qwen` is started and read."""
