from tests.integration.spawn.office import office
from tests.integration.spawn.reporter import reporter

__all__ = ["office", "reporter"]
