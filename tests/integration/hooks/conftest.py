from tests.integration.hooks.calling import spool

__all__ = ["spool"]
