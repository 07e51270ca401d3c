from tests.integration.session.desk import desk
from tests.integration.spawn.office import office

__all__ = ["desk", "office"]
