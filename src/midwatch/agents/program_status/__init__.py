"""What the program in a pane reports of itself (OSC 7501)."""
