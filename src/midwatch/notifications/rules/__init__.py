"""Which changes are sent, when each is due, and which go together in one message. Pure; time is an argument."""
