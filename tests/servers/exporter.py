"""An HTTP exporter that serves the text it is given."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Exporter:
    """`text` is what the next scrape gets; None answers 503."""

    def __init__(self) -> None:
        self.text: str | None = ""
        self.target = ""
        self.scrapes = 0


@contextmanager
def exporter() -> Iterator[Exporter]:
    """Listen on a free loopback port."""
    served = Exporter()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = (served.text or "").encode()
            self.send_response(503 if served.text is None else 200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            served.scrapes += 1

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.target = f"127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
