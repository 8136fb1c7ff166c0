"""Baselines for people."""

from sentinel.baseline.baseline import BaselineRow
from sentinel.measure.membership import Role

__all__ = ["communicator_text", "place_text"]


def communicator_text(role: Role | BaselineRow) -> str:
    """Name, size and members, which tell communicators of one size apart: `dp (8 ranks on 2 nodes: 0-56:8)`."""
    nodes = f" on {role.nnodes} node{'s' * (role.nnodes != 1)}" if role.nnodes > 0 else ""
    return f"{role.comm_name or '-'} ({role.nranks} ranks{nodes}: {role.members})"


def place_text(row: BaselineRow) -> str:
    """`gpu-17 GPU 3`."""
    return " ".join(part for part in (row.node, row.gpu and f"GPU {row.gpu}") if part) or "-"
