"""How often Midwatch is right about real agents: `make accuracy` prints it, the README shows it, a drop fails."""
