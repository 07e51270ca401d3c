from tests.integration.send.conftest import agent, alone, private
from tests.integration.send.test_send_via_ntm import through
from tests.integration.watchdog.swarm import swarm

__all__ = ["agent", "alone", "private", "swarm", "through"]
