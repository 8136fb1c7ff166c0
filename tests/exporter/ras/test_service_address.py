# SPDX-License-Identifier: Apache-2.0
"""Where RAS is asked."""

import pytest
from nccl_exporter.errors import ExporterError
from nccl_exporter.ras.host import local_hosts
from nccl_exporter.ras.service_address import service_address


@pytest.mark.parametrize(
    ("given", "environment", "address"),
    [
        ("auto", {}, ("127.0.0.1", 28028)),
        ("auto", {"NCCL_RAS_ADDR": ""}, ("127.0.0.1", 28028)),
        ("auto", {"NCCL_RAS_ADDR": "[::1]:7000"}, ("::1", 7000)),
        ("10.0.0.1:7", {"NCCL_RAS_ADDR": "[::1]:7000"}, ("10.0.0.1", 7)),
        (":28028", {}, ("127.0.0.1", 28028)),
    ],
)
def test_address(given: str, environment: dict[str, str], address: tuple[str, int]) -> None:
    assert service_address(given, environment) == address


@pytest.mark.parametrize("given", ["", "automatic", "host"])
def test_no_address(given: str) -> None:
    with pytest.raises(ExporterError, match=r"not an address .* For example --ras\.address 127\.0\.0\.1:28028"):
        service_address(given, {})


def test_hosts_of_this_machine() -> None:
    assert local_hosts(["127.0.0.1", "192.0.2.1", "::1", "unknown", "", "2001:db8::1"]) <= {"127.0.0.1", "::1"}
    assert "127.0.0.1" in local_hosts(["127.0.0.1"])
