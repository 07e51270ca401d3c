"""Services that the work will need: asked for real, on this machine."""

from __future__ import annotations

import contextlib
import http.server
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import PATIENCE
from tests.integration.preflight.projects import Project

PAGES = {
    "/missing": (404, ""),
    "/busy": (503, ""),
    "/see": (302, "/fine"),
    "/round": (302, "/round"),
    "/secure": (301, "https://localhost:1/fine?key=sesame"),
    "/file": (302, "file:///etc/passwd?key=sesame"),
}
"""The others are fine."""


class Service(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Page)
        self.asked: list[str] = []
        self.over = threading.Event()
        self.port = self.server_address[1]

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are what these tests are about."""


class Page(http.server.BaseHTTPRequestHandler):
    server: Service

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.path == "/silent":
            self.server.over.wait(PATIENCE)
        elif self.path == "/drip":
            with contextlib.suppress(OSError):
                self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
                while not self.server.over.wait(0.1):
                    self.wfile.write(b".")
        elif self.path == "/odd":
            self.wfile.write(b"220 mail.example ready\r\n")
        elif self.path != "/hang-up":
            status, to = PAGES.get(self.path, (200, ""))
            self.send_response(status)
            if to:
                self.send_header("Location", to)
            self.end_headers()
            if self.path == "/stream":
                self.server.over.wait(PATIENCE)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  # its parent's name
        pass


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield found
        found.over.set()
        found.shutdown()
        thread.join()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def says(project: Project, url: str, *, timeout: float = 20, **env: str) -> tuple[bool, str]:
    project.configure(f'[[check]]\nhttp = "{url}"\nname = "service"\ntimeout = {timeout}\n')
    found = project.found(**env)["service"]
    return found["ok"], found["says"]


@pytest.mark.parametrize("page", ["/", "/?query=SELECT+1", "/stream"])
def test_a_service_that_answers_passes_at_its_first_words(project: Project, service: Service, page: str) -> None:
    assert says(project, f"http://localhost:{service.port}{page}") == (True, "200 OK")
    assert service.asked == [page]


@pytest.mark.parametrize(("page", "words"), [("/missing", "404 Not Found"), ("/busy", "503 Service Unavailable")])
def test_a_service_that_says_no_fails_with_its_words(project: Project, service: Service, page: str, words: str) -> None:
    assert says(project, f"http://127.0.0.1:{service.port}{page}") == (False, words)


def test_a_redirect_is_followed(project: Project, service: Service) -> None:
    assert says(project, f"http://127.0.0.1:{service.port}/see") == (True, "200 OK")
    assert service.asked == ["/see", "/fine"]


@pytest.mark.parametrize(
    ("page", "words"),
    [("/secure", "301 Moved Permanently, to https://localhost, where it was not followed"),
     ("/file", "302 Found, to file://…, where it was not followed")],
)  # fmt: skip
def test_a_redirect_to_another_scheme_is_an_answer_and_not_followed(
    project: Project, service: Service, page: str, words: str
) -> None:
    assert says(project, f"http://127.0.0.1:{service.port}{page}") == (True, words)


def test_a_redirect_without_end_has_not_passed(project: Project, service: Service) -> None:
    assert says(project, f"http://127.0.0.1:{service.port}/round") == (False, "302: it redirects without end")


def test_a_service_that_is_not_started(project: Project) -> None:
    project.configure(f'[[check]]\nhttp = "http://127.0.0.1:{free_port()}/"\nname = "service"\n')
    found = project.found()["service"]
    assert (found["ok"], found["says"]) == (False, "Connection refused")
    assert found["advice"] == "start the service, or the tunnel that leads to it"


@pytest.mark.parametrize("page", ["/silent", "/drip"])
def test_a_service_that_does_not_come_to_the_point_is_given_up(project: Project, service: Service, page: str) -> None:
    assert says(project, f"http://127.0.0.1:{service.port}{page}", timeout=1) == (False, "no answer within 1s")
    assert service.asked == [page]


def test_a_service_that_hangs_up_or_speaks_otherwise(project: Project, service: Service) -> None:
    assert says(project, f"http://127.0.0.1:{service.port}/hang-up") == (False, "hung up without an answer")
    assert says(project, f"http://127.0.0.1:{service.port}/odd") == (False, "no HTTP answer: BadStatusLine")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("file:///etc/passwd", "not a URL that begins with http:// or https:// and names a host"),
        ("localhost:80", "not a URL that begins with http:// or https:// and names a host"),
        ("http://me:sesame@localhost/", "it has a user name in it, which is not sent; use a `run` check for that"),
        ("http://localhost/a b", "no HTTP answer: InvalidURL"),
        ("http://[::1/", "Invalid IPv6 URL"),
    ],
)
def test_what_is_no_url_has_not_passed(project: Project, url: str, words: str) -> None:
    assert says(project, url) == (False, words)


def test_a_proxy_is_not_asked_for_this_machine(project: Project, service: Service) -> None:
    proxy = f"http://127.0.0.1:{free_port()}"
    assert says(project, f"http://localhost:{service.port}/", http_proxy=proxy) == (True, "200 OK")


def test_a_proxy_is_asked_for_others(project: Project, service: Service) -> None:
    proxy = f"http://127.0.0.1:{service.port}"
    assert says(project, "http://elsewhere.invalid/fine", http_proxy=proxy) == (True, "200 OK")
    assert service.asked == ["http://elsewhere.invalid/fine"]


def test_a_service_without_tls_is_told_from_one_that_is_not_there(project: Project, service: Service) -> None:
    ok, words = says(project, f"https://127.0.0.1:{service.port}/")
    assert not ok
    assert words.startswith("no TLS connection: ")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to make a certificate with")
def test_a_certificate_that_nobody_vouches_for(project: Project, service: Service, tmp_path: Path) -> None:
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    subprocess.run([*make, "-keyout", "key", "-out", "crt"], cwd=tmp_path, check=True, capture_output=True, timeout=60)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "crt", tmp_path / "key")
    service.socket = context.wrap_socket(service.socket, server_side=True)
    ok, words = says(project, f"https://localhost:{service.port}/")
    assert not ok
    assert words.startswith("its certificate cannot be trusted: self")


# Connections --------------------------------------------------------------------------------------------------


def connects(project: Project, address: str, timeout: float = 20) -> tuple[bool, str]:
    project.configure(f'[[check]]\ntcp = "{address}"\ntimeout = {timeout}\n')
    found = project.found()[f"tcp {address}"]
    return found["ok"], found["says"]


def test_a_port_that_listens_passes(project: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert connects(project, f"localhost:{listener.getsockname()[1]}") == (True, "127.0.0.1 answers")


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_a_port_of_ipv6_is_written_with_brackets(project: Project) -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as listener:
        assert connects(project, f"[::1]:{listener.getsockname()[1]}") == (True, "::1 answers")


def test_a_port_where_nobody_listens_fails_for_each_address(project: Project) -> None:
    port = free_port()
    ok, words = connects(project, f"localhost:{port}")
    assert not ok
    assert words.startswith("Connection refused (")
    assert "127.0.0.1" in words


def test_a_port_that_takes_nobody_in_is_given_up(project: Project) -> None:
    """Its queue is full, as that of a service that hangs: the kernel does not even refuse."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        ok, words = connects(project, f"127.0.0.1:{listener.getsockname()[1]}", timeout=1)
    assert not ok
    assert words == "no answer within 1s (127.0.0.1)"


def test_a_host_that_cannot_be_a_host(project: Project) -> None:
    ok, words = connects(project, "no..host:80")
    assert not ok
    assert words.startswith("no..host has no address: ")
