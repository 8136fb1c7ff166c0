# SPDX-License-Identifier: Apache-2.0
"""Addresses, as they are written."""

import pytest
from nccl_endpoint.address import Address


@pytest.mark.parametrize(
    ("given", "address"),
    [
        (":9847", ("", 9847)),
        ("127.0.0.1:0", ("127.0.0.1", 0)),
        ("localhost:80", ("localhost", 80)),
        ("[::]:9847", ("::", 9847)),
        ("[::1]:1", ("::1", 1)),
    ],
)
def test_parse(given: str, address: tuple[str, int]) -> None:
    parsed = Address.parse(given)
    assert parsed == address
    assert str(parsed) == given


@pytest.mark.parametrize("given", ["", "9847", "host", "host:", ":65536", "::1:80", "[nonsense]:80", "a b:80", "h:-1"])
def test_parse_refuses(given: str) -> None:
    with pytest.raises(ValueError, match=r"expected HOST:PORT, \[IPv6\]:PORT or :PORT"):
        Address.parse(given)


@pytest.mark.parametrize(
    ("given", "loopback"),
    [("127.0.0.1:1", True), ("localhost:1", True), ("[::1]:1", True), (":1", False), ("a:1", False)],
)
def test_loopback(given: str, loopback: bool) -> None:
    assert Address.parse(given).is_loopback == loopback
