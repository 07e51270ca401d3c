"""A connection to a server that is being made, step by step and without waiting: addresses one by one, then TLS."""

from __future__ import annotations

import errno
import os
import socket
import ssl

UNDER_WAY = (0, errno.EINPROGRESS)
"""What the kernel answers to a connection that it makes meanwhile."""


def tls_context(ca: str, cert: str, key: str) -> ssl.SSLContext:
    """Whom we believe, and how we show who we are; files that are not named leave it to the system, and to nobody."""
    found = ssl.create_default_context(cafile=ca or None)
    if cert:
        found.load_cert_chain(cert, key or None)
    return found


class PendingConnection:
    def __init__(self, host: str, port: int, tls: ssl.SSLContext | None) -> None:
        """OSError when nobody of that name is known, or none of its addresses can be reached."""
        self.host = host
        self.tls = tls
        self.wants_write = True
        """Whether the next step needs room to write, or something to read."""
        self._addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        self._socket = self._next()
        self._through = False
        """The other side has taken the connection."""

    def fileno(self) -> int:
        return self._socket.fileno()

    def step(self) -> socket.socket | None:
        """Go on. The connection once it stands, which is the caller's then; OSError when there is none to be had."""
        while not self._through:
            error = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if error:
                self._socket.close()
                if not self._addresses:
                    raise OSError(error, os.strerror(error))
                self._socket = self._next()
            elif not self._stands():
                return None
            else:
                self._through = True
                if self.tls is not None:
                    self._socket = self.tls.wrap_socket(
                        self._socket, server_hostname=self.host, do_handshake_on_connect=False
                    )
        if not isinstance(self._socket, ssl.SSLSocket):
            return self._socket
        try:
            self._socket.do_handshake()
        except ssl.SSLWantReadError:
            self.wants_write = False
            return None
        except ssl.SSLWantWriteError:
            self.wants_write = True
            return None
        return self._socket

    def close(self) -> None:
        self._socket.close()

    def _next(self) -> socket.socket:
        family, kind, number, _, address = self._addresses.pop(0)
        made = socket.socket(family, kind, number)
        made.setblocking(False)
        code = made.connect_ex(address)
        if code not in UNDER_WAY:
            made.close()
            if not self._addresses:
                raise OSError(code, os.strerror(code))
            return self._next()
        return made

    def _stands(self) -> bool:
        try:
            self._socket.getpeername()
        except OSError:
            return False
        return True
