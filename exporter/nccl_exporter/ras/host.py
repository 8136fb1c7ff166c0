# SPDX-License-Identifier: Apache-2.0
"""Which of the hosts in an answer is this machine."""

import ipaddress
import socket
from collections.abc import Iterable


def local_hosts(hosts: Iterable[str]) -> frozenset[str]:
    """Those whose address this network namespace has; empty where that cannot be told (another namespace)."""
    return frozenset(host for host in set(hosts) if _is_ours(host))


def _is_ours(host: str) -> bool:
    try:
        family = socket.AF_INET6 if ipaddress.ip_address(host).version == 6 else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((host, 0))  # only an address of our own can be bound; nothing is sent
    except (OSError, ValueError):
        return False
    return True
