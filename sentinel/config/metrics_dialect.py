"""Whose metrics are read."""

from enum import StrEnum

__all__ = ["Dialect"]


class Dialect(StrEnum):
    """nccl-exporter's, or what NVIDIA Inspector writes for node_exporter."""

    SENTINEL = "sentinel"
    INSPECTOR = "inspector"
