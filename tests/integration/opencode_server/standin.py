"""A process that answers as OpenCode's server did: `python standin.py FILE`, where FILE says path → answer.

FILE is read at each request, so a test changes what is said by writing it. A path that is not in it is not found; a
number as the answer is a status, "silence" says nothing until the other side gives up.
"""

import http.server
import json
import sys
from pathlib import Path


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        answers = json.loads(Path(sys.argv[1]).read_text())
        path, _, query = self.path.partition("?")
        with Path(f"{sys.argv[1]}.asked").open("a") as asked:
            asked.write(f"{self.command} {path} {query}\n")
        answer = answers.get(path, 404)
        if answer == "silence":
            self.rfile.read()
            return
        body = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        self.send_response(answer if isinstance(answer, int) else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    print(server.server_port, flush=True)
    server.serve_forever()
