"""What a check has found, and whether a virtual environment is whole. Pure."""
