"""Answers to one instant query, tick after tick: labels that were read before are known by their bytes."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sentinel.source.prometheus_answer import decode
from sentinel.source.prometheus_grid import Axis, Grid, read_grid
from sentinel.source.prometheus_heads import KnownHeads
from sentinel.source.prometheus_labels import LabelReader, LabelSet
from sentinel.source.prometheus_pieces import cut_series

__all__ = ["VectorReader"]

_END = b'"]}'  # of the last series
# It cannot stand within a label: there the quotes would be escaped.
_VALUE = b'},"value":['


class VectorReader:
    """Reads what Prometheus itself writes, without decoding again what does not change: several times as fast.

    `labels` become the columns of the keys; `metrics`, where there are several, tell a row's values apart.
    """

    def __init__(self, labels: LabelSet, reader: LabelReader, metrics: Sequence[str] = ("",)) -> None:
        self._labels, self._reader, self._metrics = labels, reader, metrics
        self._heads = KnownHeads(labels, reader, metrics)

    def read(self, body: bytes | bytearray, where: str, axis: Axis) -> Grid:
        """At the one instant of `axis`. What is not written as Prometheus writes it is decoded. SourceError."""
        grid = self.known(body, where)
        if grid is None:
            grid = read_grid(decode(body, "vector", where), self._labels, self._reader, axis, self._metrics)
        return grid

    def known(self, body: bytes | bytearray, where: str) -> Grid | None:
        """Without decoding all of it; None where it is not written as Prometheus writes one."""
        found = cut_series(body, "vector", _END, where)
        if found is None:
            return None
        pieces, warnings = found
        try:
            places, values = self._samples(pieces)
        except ValueError:
            return None
        return self._grid(places, values, warnings)

    def _samples(self, pieces: list[bytes]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """ValueError for a piece that is not labels and one sample, of the same time as the first."""
        self._heads.expect(len(pieces))
        time = pieces[0][pieces[0].rfind(_VALUE) + len(_VALUE) :].partition(b'"')[0]
        float(time.removesuffix(b","))
        place_of, places, values = self._heads.place, [], []
        for piece in pieces:
            head, _, sample = piece.rpartition(_VALUE)
            place = place_of(head)
            at, value, close = sample.split(b'"')
            if at != time or close != b"]":
                raise ValueError
            places.append(place)
            values.append(float(value))
        return np.array(places), np.array(values)

    def _grid(self, places: npt.NDArray[np.int64], values: npt.NDArray[np.float64], warnings: tuple[str, ...]) -> Grid:
        sound = (places >= 0) & (values >= 0.0) & (values < np.inf)
        table = np.full((len(self._heads), len(self._metrics)), np.nan)
        table.reshape(-1)[places[sound]] = values[sound]
        return Grid(
            keys=self._heads.keys,
            values=tuple(column[:, None] for column in table.T),
            malformed=np.array([len(places) - int(sound.sum())]),
            warnings=warnings,
        )
