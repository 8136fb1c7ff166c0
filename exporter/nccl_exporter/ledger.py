"""Counts that belong to the node and not to a process: they must not fall when a process ends."""

from collections.abc import Set as AbstractSet
from typing import Generic, TypeVar

from nccl_exporter.layout import DROPPED

K = TypeVar("K")


class Ledger(Generic[K]):
    """What did not fit into the plugin's tables, of every process ever seen, in the order of layout.DROPPED."""

    def __init__(self) -> None:
        self._present: dict[K, tuple[int, ...]] = {}
        self._ended: tuple[int, ...] = (0,) * len(DROPPED)

    def note(self, key: K, dropped: tuple[int, ...]) -> None:
        """What a process says now. A count that falls is not believed."""
        before = self._present.get(key, dropped)
        self._present[key] = tuple(map(max, before, dropped))

    def settle(self, present: AbstractSet[K]) -> None:
        """Of the processes that are not present, keep the sum alone."""
        for key in self._present.keys() - present:
            self._ended = _sum(self._ended, self._present.pop(key))

    @property
    def total(self) -> tuple[int, ...]:
        """The sum over all processes, never falling."""
        total = self._ended
        for dropped in self._present.values():
            total = _sum(total, dropped)
        return total


def _sum(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))
