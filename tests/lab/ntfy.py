"""A server that takes what a client of ntfy publishes, on loopback: `python -m tests.lab.ntfy PORT FILE`.

Each message becomes a line of JSON in the file. A client sends JSON to `/`, or plain text to `/TOPIC`, the title in a
header.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


class Handler(BaseHTTPRequestHandler):
    file = Path()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        topic = self.path.strip("/")
        found = {"topic": topic, "title": self.headers.get("X-Title", ""), "message": body.decode(errors="replace")}
        if not topic or self.headers.get("Content-Type", "").startswith("application/json"):
            found = json.loads(body)
        with self.file.open("a") as file:
            file.write(json.dumps(found) + "\n")
        answer = json.dumps({"id": "1", "event": "message", **found}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments: object) -> None:
        pass


def main() -> None:
    port, Handler.file = int(sys.argv[1]), Path(sys.argv[2])
    with HTTPServer(("127.0.0.1", port), Handler) as server:
        print("ready", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
