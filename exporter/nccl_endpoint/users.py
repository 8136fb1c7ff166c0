# SPDX-License-Identifier: Apache-2.0
"""Section `basic_auth_users`: who may ask, by name and password."""

import base64
import binascii
import hashlib
import hmac
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final

import bcrypt

from nccl_endpoint.document import Section

# Verified credentials that are remembered; the one used longest ago goes first.
REMEMBERED: Final = 64
# bcrypt looks at no more; other programs cut silently, and their hashes must keep working.
_PASSWORD_BYTES: Final = 72
_HASH: Final = re.compile(rb"\$2[aby]\$(?P<cost>[0-9]{2})\$[./A-Za-z0-9]{53}")


class Users:
    """Checks an Authorization header; may be used by many threads.

    A name that does not exist costs as much time as a wrong password. What was right once is remembered by a keyed
    digest, so that a scrape does not pay for bcrypt.
    """

    def __init__(
        self,
        hashes: Mapping[str, bytes],
        check: Callable[[bytes, bytes], bool] = bcrypt.checkpw,
        most: int = REMEMBERED,
    ) -> None:
        self._hashes = {name.encode(): value for name, value in hashes.items()}
        self._check = check
        self._most = most
        self._key = secrets.token_bytes(32)
        self._verified: OrderedDict[bytes, None] = OrderedDict()
        self._verified_lock = threading.Lock()
        # One at a time: bcrypt is made to be expensive, and this is a machine that trains.
        self._bcrypt_lock = threading.Lock()
        cost = max(_cost(value) for value in self._hashes.values())
        self._nobody = b"$2b$%02d$%s" % (cost, b"." * 53)

    def admit(self, authorization: str | None) -> bool:
        """Whether the header has a name and its password."""
        name, password = _credentials(authorization)
        if name is None:
            return False
        digest = hmac.digest(self._key, b"%d:%b%b" % (len(name), name, password), hashlib.sha256)
        with self._verified_lock:
            if digest in self._verified:
                self._verified.move_to_end(digest)
                return True
        known = name in self._hashes
        with self._bcrypt_lock:
            try:
                right = self._check(password[:_PASSWORD_BYTES], self._hashes.get(name, self._nobody))
            except ValueError:  # a zero byte, which no password has
                right = False
        if not (right and known):
            return False
        with self._verified_lock:
            self._verified[digest] = None
            while len(self._verified) > self._most:
                self._verified.popitem(last=False)
        return True


def read(section: Section) -> Users | None:
    """None when there are none; raises WebConfigError for a hash that is not bcrypt's. Never shows the value."""
    hashes: dict[str, bytes] = {}
    for name, value in section.items():
        raw = value.encode()
        match = _HASH.fullmatch(raw)
        if match is None or not 4 <= int(match["cost"]) <= 31:
            raise section.refused(
                name, "its value is not a bcrypt hash", "Make one with: htpasswd -nBC 10 '' | tr -d ':\\n'"
            )
        if not name or ":" in name:
            raise section.refused(name, "a name is not empty and has no colon: HTTP could not carry it")
        hashes[name] = raw
    return Users(hashes) if hashes else None


def _cost(hashed: bytes) -> int:
    match = _HASH.fullmatch(hashed)
    return int(match["cost"]) if match else 10


def _credentials(authorization: str | None) -> tuple[bytes | None, bytes]:
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return None, b""
    try:
        decoded = base64.b64decode(encoded.strip(), validate=True)
    except (binascii.Error, ValueError):
        return None, b""
    name, colon, password = decoded.partition(b":")
    return (name, password) if colon else (None, b"")
