from tests.integration.api.conftest import here
from tests.integration.reconcile.workspace import workspace
from tests.integration.spawn.office import office
from tests.integration.wait.watching import gate

__all__ = ["gate", "here", "office", "workspace"]
