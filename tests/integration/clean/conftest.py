from tests.integration.spawn.office import office

__all__ = ["office"]
