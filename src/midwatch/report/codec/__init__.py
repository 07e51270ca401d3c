"""Moments as people type them, events of the journal, and the report as text, JSON lines and one HTML file."""
