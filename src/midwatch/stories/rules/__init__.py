"""What a step's log says without a model, and the next action. Pure."""
