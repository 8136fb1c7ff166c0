"""Free ports of this machine."""

import socket
from contextlib import ExitStack

__all__ = ["free_ports"]


def free_ports(count: int) -> list[int]:
    """Distinct TCP ports of the loopback address that nobody listened on a moment ago."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
