# SPDX-License-Identifier: Apache-2.0
"""Reading from a client that may be slow on purpose."""

import io
import socket
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["TimedReader"]


class TimedReader(io.RawIOBase):
    """A connection's bytes. A timeout of the socket starts anew with each byte; this one is for a whole request.

    TimeoutError when nothing comes for `patience_seconds`, or a request is not there `request_seconds` after it began.
    """

    def __init__(
        self,
        connection: socket.socket,
        patience_seconds: float,
        request_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connection = connection
        self._patience_seconds = patience_seconds
        self._request_seconds = request_seconds
        self._clock = clock
        self._deadline: float | None = None

    def next_request(self) -> None:
        """What comes now is another request."""
        self._deadline = None

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """What is there, at least one byte; none when the client has gone."""
        left = self._patience_seconds if self._deadline is None else self._deadline - self._clock()
        if left <= 0.0:
            raise TimeoutError("the request takes too long")
        self._connection.settimeout(min(left, self._patience_seconds))
        count = self._connection.recv_into(buffer)
        if self._deadline is None:
            self._deadline = self._clock() + self._request_seconds
        return count
