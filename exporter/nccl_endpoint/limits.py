# SPDX-License-Identifier: Apache-2.0
"""What a client may take up."""

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """Past `connections` the oldest one has to go; past `requests_per_second` new ones wait, and kept ones are refused.

    A page is asked by `at_once` requests at a time, and the next one is refused: who was hung up may still be at work,
    or wait for another at it.

    A client may be silent between requests for `patience_seconds`, and has `request_seconds` from a request's first
    byte to its last. `handshake_seconds` are for TLS. A body has at most `body_bytes`.
    """

    connections: int = 32
    at_once: int = 8
    patience_seconds: float = 10.0
    request_seconds: float = 10.0
    handshake_seconds: float = 5.0
    body_bytes: int = 0
    requests_per_second: float | None = None
