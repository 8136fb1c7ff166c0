"""Answers kept for those who ask again, bounded in bytes."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["Kept"]

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class Kept(Generic[_K, _V]):
    """For one thread. Past `max_bytes` what was put in first goes; what is larger by itself is not kept."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._held: OrderedDict[_K, tuple[_V, int]] = OrderedDict()

    def get(self, key: _K) -> _V | None:
        """None where it is not kept."""
        found = self._held.get(key)
        return None if found is None else found[0]

    def put(self, key: _K, value: _V, nbytes: int) -> None:
        """Keep one, `nbytes` large, in place of what was kept under its key."""
        if key in self._held:
            self._bytes -= self._held.pop(key)[1]
        if nbytes > self._max_bytes:
            return
        self._held[key] = (value, nbytes)
        self._bytes += nbytes
        while self._bytes > self._max_bytes:
            self._bytes -= self._held.popitem(last=False)[1][1]

    def clear(self) -> None:
        """Keep nothing."""
        self._held.clear()
        self._bytes = 0
