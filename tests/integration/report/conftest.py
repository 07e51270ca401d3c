from tests.integration.spawn.office import office
from tests.integration.wait.watching import gate

__all__ = ["gate", "office"]
