"""What agents tell their hooks."""
