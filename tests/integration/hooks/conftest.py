from tests.integration.hooks.calling import either, spool

__all__ = ["either", "spool"]
