# SPDX-License-Identifier: Apache-2.0
"""A TCP server that plays NCCL's RAS service."""

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nccl_endpoint.address import Address

# What NCCL 2.28.9 answered while rank 2 of 8 was stuck.
RECORDED = Path(__file__).with_name("ras_stall2.json").read_bytes()


class RasService:
    """Answers as NCCL 2.28 does, unless told otherwise: `text` is the status, each of `lines` one reply before it.

    With `hangs` it never closes, with `leaves` it does before the status; `gate` holds the status back until it is set.
    `asked` counts status queries.
    """

    def __init__(self) -> None:
        self.lines = [b"SERVER PROTOCOL 2\n", b"OK\n"]
        self.text = RECORDED
        self.hangs = False
        self.leaves = False
        self.gate = threading.Event()
        self.gate.set()
        self.asked = 0
        self.commands: list[bytes] = []
        self.ended = threading.Event()
        self.address = Address("127.0.0.1", 0)

    def converse(self, connection: socket.socket) -> None:
        """One client, until it or the service has had enough."""
        stream = connection.makefile("rb")
        for line in self.lines:
            self.commands.append(stream.readline())
            connection.sendall(line)
        if self.leaves:
            return
        command = stream.readline()
        if command:
            self.commands.append(command)
            self.asked += 1
            self.gate.wait()
            connection.sendall(self.text)
        if self.hangs:
            self.ended.wait()


@contextmanager
def ras_service() -> Iterator[RasService]:
    """Listen on a free loopback port."""
    service = RasService()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            try:
                service.converse(self.request)
            except OSError:
                return  # the client had seen enough

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        service.address = Address("127.0.0.1", server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield service
        finally:
            service.ended.set()
            service.gate.set()
            server.shutdown()
            thread.join()
