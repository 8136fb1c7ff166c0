"""Series known by the bytes of their labels: what does not change is not decoded again."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from sentinel.model.vocabulary import Codes
from sentinel.source.prometheus_labels import LabelReader, LabelSet

__all__ = ["KnownHeads"]

_REMEMBERED = 1.25  # times as many as this answer has; beyond it those that are gone are forgotten


class KnownHeads:
    """Where the values of each series belong in a grid of `len` rows and one value a metric.

    `labels` become the columns of the keys; `metrics`, where there are several, tell a row's values apart.
    """

    def __init__(self, labels: LabelSet, reader: LabelReader, metrics: Sequence[str]) -> None:
        self._columns: Callable[[Mapping[str, Any]], tuple[int, ...] | None] = reader.columns(labels)
        self._width = len(labels)
        self._slots = {name: slot for slot, name in enumerate(metrics)}
        self._rows: dict[tuple[int, ...], int] = {}
        self._places: dict[bytes, int] = {}
        self._keys: Codes = np.empty((0, self._width), dtype=np.int32)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def keys(self) -> Codes:
        """Of all rows, shape (rows, labels)."""
        if len(self._keys) != len(self._rows):
            self._keys = np.array(list(self._rows), dtype=np.int32).reshape(len(self._rows), self._width)
        return self._keys

    def expect(self, count: int) -> None:
        """That many series come now. Where far more are remembered, all are forgotten."""
        if len(self._places) > _REMEMBERED * count:
            self._rows, self._places, self._keys = {}, {}, self._keys[:0]

    def place(self, head: bytes) -> int:
        """Row × metrics + slot of the series that begins with `head` (`{…}` without its end); -1: breaks the contract.

        ValueError where it is no series at all.
        """
        place = self._places.get(head)
        if place is None:
            place = self._places[head] = self._read(head)
        return place

    def _read(self, head: bytes) -> int:
        metric = orjson.loads(head + b"}")
        slot = 0 if len(self._slots) == 1 else self._slots.get(metric.get("__name__"))
        key = self._columns(metric) if slot is not None else None
        if slot is None or key is None:
            return -1
        return self._rows.setdefault(key, len(self._rows)) * len(self._slots) + slot
