"""Whether an address can be reached: one request, one connection, no more."""

from __future__ import annotations

import http.client
import socket
import ssl
import time
import urllib.error
import urllib.request
from urllib.parse import urlsplit

from midwatch.core.text import format_duration
from midwatch.preflight.model import AddressReply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMES = ("http", "https")
LOOPBACK = ("localhost", "::1", "0.0.0.0")  # noqa: S104  # a name to be compared, nothing is bound
ANSWERED = 200
"""What stands for a status where there is none."""
REDIRECTED = 300
ENDLESS = "it redirects without end; "
NAME = "midwatch-preflight"


def connect_tcp(host: str, port: int, limit: float) -> AddressReply:
    """Connect, to whichever of the host's addresses answers first, and hang up."""
    deadline = time.monotonic() + limit
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        return AddressReply(0, f"{host} has no address: {_format_error(error)}")
    failed: dict[str, list[str]] = {}
    for family, kind, protocol, _, address in dict.fromkeys(found):
        try:
            with socket.socket(family, kind, protocol) as connection:
                connection.settimeout(max(0.001, deadline - time.monotonic()))
                connection.connect(address)
                if connection.getsockname() != connection.getpeername():
                    return AddressReply(ANSWERED, f"{address[0]} answers")
                why = "Connection refused"  # our own port was the one asked for: we met ourselves
        except OSError as error:
            why = (
                f"no answer within {format_duration(limit)}"
                if isinstance(error, TimeoutError)
                else _format_error(error)
            )
        failed.setdefault(why, []).append(str(address[0]))
    return AddressReply(0, "; ".join(f"{why} ({', '.join(which)})" for why, which in failed.items()))


def request_http(url: str, limit: float) -> AddressReply:
    """Ask for a page and read the answer's head. Redirects are followed while the scheme stays what it is."""
    try:
        parts = urlsplit(url)
        if parts.scheme not in SCHEMES or not parts.hostname:
            return AddressReply(0, "not a URL that begins with http:// or https:// and names a host")
        if parts.username is not None:
            return AddressReply(0, "it has a user name in it, which is not sent; use a `run` check for that")
        opener = urllib.request.OpenerDirector()
        for handler in (_Proxies, _Redirects, *HANDLERS):
            opener.add_handler(handler())
        request = urllib.request.Request(url, headers={"User-Agent": NAME})  # noqa: S310  # its scheme is checked
        with opener.open(request, timeout=limit) as answer:
            return AddressReply(answer.status, f"{answer.status} {answer.reason}".strip())
    except urllib.error.HTTPError as error:
        with error:
            if str(error.reason).startswith(ENDLESS):
                return AddressReply(0, f"{error.code}: {ENDLESS.rstrip('; ')}")
            return AddressReply(error.code, f"{error.code} {error.reason}".strip() + _format_redirect(error, url))
    except urllib.error.URLError as error:
        why = error.reason
        return AddressReply(0, _format_failure(why if isinstance(why, Exception) else error, limit))
    except (OSError, http.client.HTTPException, ValueError) as error:
        return AddressReply(0, _format_failure(error, limit))


class _Proxies(urllib.request.ProxyHandler):
    """The environment's proxies, but never for this machine itself."""

    def proxy_open(self, req: urllib.request.Request, proxy: str, type: str) -> Any:  # noqa: A002  # its parent's name
        host = (urlsplit(req.full_url).hostname or "").lower()
        if host in LOOPBACK or host.startswith("127.") or host.endswith(".localhost"):
            return None
        return super().proxy_open(req, proxy, type)


class _Redirects(urllib.request.HTTPRedirectHandler):
    inf_msg = ENDLESS

    def http_error_302(self, req: Any, fp: Any, code: int, msg: str, headers: Any) -> Any:
        to = urlsplit(headers.get("Location", "")).scheme
        if to and to != urlsplit(req.full_url).scheme:
            return None
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


HANDLERS = (
    urllib.request.HTTPHandler, urllib.request.HTTPSHandler, urllib.request.HTTPErrorProcessor,
    urllib.request.HTTPDefaultErrorHandler, urllib.request.UnknownHandler,
)  # fmt: skip


def _format_redirect(error: urllib.error.HTTPError, url: str) -> str:
    """Where a redirect that was not followed leads; no more of it than the host, for there may be keys in it."""
    if not REDIRECTED <= error.code < 400 or not error.headers.get("Location"):  # noqa: PLR2004
        return ""
    to = urlsplit(error.headers["Location"])
    return f", to {to.scheme or urlsplit(url).scheme}://{to.hostname or '…'}, where it was not followed"


def _format_failure(error: Exception, limit: float) -> str:
    match error:
        case TimeoutError():
            return f"no answer within {format_duration(limit)}"
        case ssl.SSLCertVerificationError():
            return f"its certificate cannot be trusted: {error.verify_message}"
        case ssl.SSLError():
            return f"no TLS connection: {error.reason or error}"
        case http.client.RemoteDisconnected() | ConnectionResetError():
            return "hung up without an answer"
        case http.client.HTTPException():
            return f"no HTTP answer: {type(error).__name__}"
        case socket.gaierror():
            return f"the host has no address: {_format_error(error)}"
        case _:
            return _format_error(error)


def _format_error(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
