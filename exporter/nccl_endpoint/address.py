# SPDX-License-Identifier: Apache-2.0
"""Addresses as Prometheus' own programs take them: `:9847`, `127.0.0.1:9847`, `[::1]:9847`."""

import ipaddress
import re
from typing import NamedTuple, Self

_SHAPE = re.compile(r"(?:\[(?P<six>[^\[\]]*)\]|(?P<host>[^\[\]:/\s]*)):(?P<port>[0-9]{1,5})")


class Address(NamedTuple):
    """Where to listen or to connect to; to listen, an empty host is every address and port 0 one that is free."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """ValueError, which says what is expected, when `text` is not HOST:PORT."""
        match = _SHAPE.fullmatch(text)
        if match is None or int(match["port"]) > 65535 or (match["six"] is not None and not _is_ipv6(match["six"])):
            raise ValueError("expected HOST:PORT, [IPv6]:PORT or :PORT")
        return cls(match["six"] or match["host"] or "", int(match["port"]))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        """As it is written in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True
