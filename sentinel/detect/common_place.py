"""Where the slow communicators of a job meet, and no healthy one does."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sentinel.detect.common_node import common_gpu, common_node
from sentinel.measure.membership import Communicator

__all__ = ["CommonPlace"]


@dataclass(frozen=True)
class CommonPlace:
    """A node, or one of its GPUs (UUID, or number where that is not known; empty where it is the node)."""

    node: str
    gpu: str
    slower: int  # communicators that are
    healthy: int

    @classmethod
    def of(cls, slower: Collection[Communicator], healthy: Collection[Communicator]) -> "CommonPlace | None":
        """The one place that is in all of `slower` and in none of `healthy`: see `common_member`."""
        node, gpu = common_node(slower, healthy), ""
        if node is None:
            node, gpu = common_gpu(slower, healthy) or (None, "")
        return None if node is None else cls(node, gpu, len(slower), len(healthy))

    def is_at(self, other: "CommonPlace | None") -> bool:
        """Whether another is the same place."""
        return other is not None and (self.node, self.gpu) == (other.node, other.gpu)

    def evidence(self) -> dict[str, Any]:
        """In numbers that a person can check."""
        return {
            "kind": "common_gpu" if self.gpu else "common_node",
            "common_node": self.node,
            "common_gpu": self.gpu or None,
            "slower_communicators": self.slower,
            "healthy_communicators": self.healthy,
        }
