# SPDX-License-Identifier: Apache-2.0
"""One query to NCCL's RAS service, bounded in time and size."""

import socket
import time
from dataclasses import dataclass
from typing import Final

from nccl_endpoint.address import Address

CONNECT_SECONDS: Final = 2.0
GREETING_SECONDS: Final = 2.0
# The service itself waits up to 5 s + 5 s for processes that do not answer: just then the answer matters most.
ANSWER_SECONDS: Final = 12.0
ANSWER_BYTES: Final = 8 << 20

_LINE_BYTES: Final = 1024
_PIECE: Final = 1 << 16


class RasError(Exception):
    """The service gave no answer that could be used; `reason` is one of catalogue.RAS_FAILURE_REASONS."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(f"{reason}: {detail}")


@dataclass(frozen=True, slots=True)
class Limits:
    """How long, in seconds, and how many bytes a query may take."""

    connect_seconds: float = CONNECT_SECONDS
    greeting_seconds: float = GREETING_SECONDS
    answer_seconds: float = ANSWER_SECONDS
    answer_bytes: int = ANSWER_BYTES


def ask(address: Address, limits: Limits) -> bytes:
    """The status of all communicators that the service knows, as JSON; raises RasError. NCCL 2.28 and later."""
    try:
        connection = socket.create_connection((address.host, address.port), timeout=limits.connect_seconds)
    except TimeoutError as error:
        raise RasError("timeout", "no connection in time") from error
    except OSError as error:
        raise RasError("connect", error.strerror or str(error)) from error
    with connection:
        try:
            return _converse(_Reader(connection, limits), connection, limits)
        except TimeoutError as error:
            raise RasError("timeout", "no answer in time") from error
        except OSError as error:
            raise RasError("closed", error.strerror or str(error)) from error


def _converse(reader: "_Reader", connection: socket.socket, limits: Limits) -> bytes:
    reader.within(limits.greeting_seconds)
    connection.sendall(b"CLIENT PROTOCOL 2\n")
    greeting = reader.line()
    if not greeting.startswith(b"SERVER PROTOCOL "):
        raise RasError("protocol", f"it greeted with {greeting[:80]!r}")
    connection.sendall(b"SET FORMAT json\n")
    answer = reader.line()
    if answer != b"OK":
        raise RasError("unsupported", f"it has no JSON, NCCL before 2.28 has not: {answer[:80]!r}")
    connection.sendall(b"VERBOSE STATUS\n")
    reader.within(limits.answer_seconds)
    return reader.rest(limits.answer_bytes)


class _Reader:
    """Reads until a deadline, however small the pieces are that come."""

    def __init__(self, connection: socket.socket, limits: Limits) -> None:
        self._connection = connection
        self._deadline = 0.0
        self._buffer = b""
        self.within(limits.greeting_seconds)

    def within(self, seconds: float) -> None:
        """From now on there are so many seconds."""
        self._deadline = time.monotonic() + seconds

    def line(self) -> bytes:
        """The next line without its end."""
        while b"\n" not in self._buffer:
            if len(self._buffer) > _LINE_BYTES:
                raise RasError("protocol", "its line does not end")
            piece = self._piece()
            if not piece:
                raise RasError("closed", "it hung up before it had greeted")
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.rstrip(b"\r")

    def rest(self, most: int) -> bytes:
        """Everything until the service closes; raises RasError past `most` bytes."""
        pieces, size = [self._buffer], len(self._buffer)
        while piece := self._piece():
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise RasError("size", f"more than {most} bytes")
        return b"".join(pieces)

    def _piece(self) -> bytes:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv(_PIECE)
