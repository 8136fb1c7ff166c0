"""Servers that say what a test wants them to, byte by byte."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Talk = Callable[[socket.socket, threading.Event], None]


def answer(head: bytes, body: bytes = b"") -> Talk:
    """Say this once, and hang up."""

    def talk(connection: socket.socket, _: threading.Event) -> None:
        connection.sendall(head + body)

    return talk


def endless(head: bytes, piece: bytes, pause_seconds: float = 0.0) -> Talk:
    """Say this, and then the same piece again and again."""

    def talk(connection: socket.socket, stop: threading.Event) -> None:
        connection.sendall(head)
        while not stop.wait(pause_seconds):
            connection.sendall(piece)

    return talk


@contextmanager
def hostile(talk: Talk, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address of a server that reads the head of each request, and then talks; with a context over TLS."""
    stop = threading.Event()
    threads: list[threading.Thread] = []

    def serve(connection: socket.socket) -> None:
        connection.settimeout(10.0)
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            stack.enter_context(connection)
            if context is not None:
                connection = stack.enter_context(context.wrap_socket(connection, server_side=True))
            heard = b""
            while b"\r\n\r\n" not in heard:
                piece = connection.recv(65536)
                if not piece:
                    return
                heard += piece
            talk(connection, stop)
            # Data that nobody has read would turn the end into a reset.
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass

    def accept() -> None:
        while not stop.is_set():
            try:
                connection, _ = server.accept()
            except TimeoutError:
                continue
            threads.append(threading.Thread(target=serve, args=(connection,), daemon=True))
            threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        acceptor = threading.Thread(target=accept)
        acceptor.start()
        try:
            yield f"{'https' if context else 'http'}://127.0.0.1:{server.getsockname()[1]}"
        finally:
            stop.set()
            acceptor.join()
            for thread in threads:
                thread.join()
