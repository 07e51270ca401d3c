"""Fixtures for story-automator: its program, as scripts call it."""

from tests.integration.compat.conftest import automator, office, stories

__all__ = ["automator", "office", "stories"]
