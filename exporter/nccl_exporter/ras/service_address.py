# SPDX-License-Identifier: Apache-2.0
"""Where the RAS service of this node's jobs listens."""

from collections.abc import Mapping
from typing import Final

from nccl_endpoint.address import Address

from nccl_exporter.address import parse_address

AUTO: Final = "auto"
# NCCL's own default.
DEFAULT: Final = "127.0.0.1:28028"


def service_address(text: str, environment: Mapping[str, str]) -> Address:
    """HOST:PORT, or what NCCL itself would use for "auto"; raises ExporterError for anything else."""
    if text == AUTO:
        text = environment.get("NCCL_RAS_ADDR") or DEFAULT
    address = parse_address(text, "--ras.address", DEFAULT)
    return address if address.host else Address("127.0.0.1", address.port)
