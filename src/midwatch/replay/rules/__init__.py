"""What another policy would have said, and how often a source was right. Pure; time is an argument."""
