"""Answers to one instant query, tick after tick: labels that were read before are known by their bytes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from sentinel.errors import SourceError
from sentinel.model.vocabulary import Codes
from sentinel.source.prometheus_answer import decode
from sentinel.source.prometheus_grid import Axis, Grid, read_grid
from sentinel.source.prometheus_labels import LabelReader, LabelSet

__all__ = ["VectorReader"]

_RESULT = b'"result":[{"metric":'
_END = b'"]}'  # of the last series
# Neither can stand within a label: there the quotes would be escaped.
_BETWEEN = b'},{"metric":'
_VALUE = b'},"value":['
_METRIC = b'{"metric":'
_ENVELOPE_BYTES = 1024  # before the first series
_REMEMBERED = 2  # times as many as the last answer had; then those that are gone are forgotten


class VectorReader:
    """Reads what Prometheus itself writes, without decoding again what does not change: several times as fast.

    `labels` become the columns of the keys; `metrics`, where there are several, tell a row's values apart.
    """

    def __init__(self, labels: LabelSet, reader: LabelReader, metrics: Sequence[str] = ("",)) -> None:
        self._labels, self._reader, self._metrics = labels, reader, metrics
        self._columns: Callable[[Mapping[str, Any]], tuple[int, ...] | None] = reader.columns(labels)
        self._width = len(labels)
        self._slots = {name: slot for slot, name in enumerate(metrics)}
        self._rows: dict[tuple[int, ...], int] = {}
        self._places: dict[bytes, int] = {}  # row * metrics + slot, by the bytes of the labels; -1: break the contract
        self._keys: Codes = np.empty((0, self._width), dtype=np.int32)

    def read(self, body: bytes | bytearray, where: str, axis: Axis) -> Grid:
        """At the one instant of `axis`. What is not written as Prometheus writes it is decoded. SourceError."""
        grid = self.known(body, where)
        if grid is None:
            grid = read_grid(decode(body, "vector", where), self._labels, self._reader, axis, self._metrics)
        return grid

    def known(self, body: bytes | bytearray, where: str) -> Grid | None:
        """Without decoding all of it; None where it is not written as Prometheus writes one."""
        start, end = body.find(_RESULT, 0, _ENVELOPE_BYTES) + len(_RESULT), body.rfind(_END) + len(_END)
        if start < len(_RESULT) or end <= start:
            return None
        try:
            warnings = decode(body[: start - len(_METRIC)] + body[end:], "vector", where).warnings
            places, values = self._samples(bytes(body[start : end - 1]).split(_BETWEEN))
        except (SourceError, ValueError):
            return None
        return self._grid(places, values, warnings)

    def _samples(self, pieces: list[bytes]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """ValueError for a piece that is not labels and one sample, of the same time as the first."""
        if len(self._places) > _REMEMBERED * len(pieces):
            self._rows, self._places, self._keys = {}, {}, self._keys[:0]
        time = pieces[0][pieces[0].rfind(_VALUE) + len(_VALUE) :].partition(b'"')[0]
        float(time.removesuffix(b","))
        known, places, values = self._places, [], []
        for piece in pieces:
            head, _, sample = piece.rpartition(_VALUE)
            place = known.get(head)
            if place is None:
                place = known[head] = self._place(head)
            at, value, close = sample.split(b'"')
            if at != time or close != b"]":
                raise ValueError
            places.append(place)
            values.append(float(value))
        return np.array(places), np.array(values)

    def _place(self, head: bytes) -> int:
        metric = orjson.loads(head + b"}")
        slot = 0 if len(self._slots) == 1 else self._slots.get(metric.get("__name__"))
        key = self._columns(metric) if slot is not None else None
        if slot is None or key is None:
            return -1
        return self._rows.setdefault(key, len(self._rows)) * len(self._slots) + slot

    def _grid(self, places: npt.NDArray[np.int64], values: npt.NDArray[np.float64], warnings: tuple[str, ...]) -> Grid:
        sound = (places >= 0) & (values >= 0.0) & (values < np.inf)
        if len(self._keys) != len(self._rows):
            self._keys = np.array(list(self._rows), dtype=np.int32).reshape(len(self._rows), self._width)
        table = np.full((len(self._rows), len(self._slots)), np.nan)
        table.reshape(-1)[places[sound]] = values[sound]
        return Grid(
            keys=self._keys,
            values=tuple(column[:, None] for column in table.T),
            malformed=np.array([len(places) - int(sound.sum())]),
            warnings=warnings,
        )
