"""How the agent `gemini` is started and read."""
