from tests.integration.run.conftest import go, terminal
from tests.integration.spawn.office import office

__all__ = ["go", "office", "terminal"]
