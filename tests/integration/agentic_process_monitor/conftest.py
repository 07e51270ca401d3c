from tests.integration.wait.watching import gate

__all__ = ["gate"]
