"""Decisions of `breaker`: pure, and time is an argument."""
