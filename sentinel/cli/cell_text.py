"""A cell as people name it."""

from sentinel.model.quantity import format_quantity

__all__ = ["cell_text"]


def cell_text(op: str, size: str, algo: str, proto: str) -> str:
    """`AllReduce 1 MiB RING SIMPLE`; what is empty is left out."""
    return " ".join(part for part in (op, format_quantity("size_bytes", size)[1], algo, proto) if part)
