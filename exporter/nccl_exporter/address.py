# SPDX-License-Identifier: Apache-2.0
"""Addresses on the command line."""

from nccl_endpoint.address import Address

from nccl_exporter.errors import ExporterError


def parse_address(text: str, option: str = "--web.listen-address", example: str = "127.0.0.1:9847") -> Address:
    """Raises ExporterError, with an example for that option, when `text` is not HOST:PORT."""
    try:
        return Address.parse(text)
    except ValueError as error:
        hint = f"For example {option} {example}"
        raise ExporterError("not an address", where=repr(text), why=str(error), hint=hint) from None
