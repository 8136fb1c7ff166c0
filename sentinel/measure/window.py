"""What happened between two snapshots."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sentinel.measure.difference import Difference
from sentinel.measure.labels import CellLabelled, Labelled, LabelReader, Labels
from sentinel.measure.rank_table import RankTable
from sentinel.measure.sampling import sampling_scale
from sentinel.measure.spans import SpanReader
from sentinel.model.snapshot import Snapshot
from sentinel.model.vocabulary import Codes

__all__ = ["Differencer", "Progress", "Window"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Progress(Labelled):
    """Collectives launched in the window, by (comm, rank, op). `total` is the counter itself. Shape (n,)."""

    labels: Labels
    launched: Floats  # NaN where it is not known: a new series, or a counter that was reset
    total: Floats


@dataclass(frozen=True)
class Window(CellLabelled):
    """Operations that finished in (start, end], by cell and rank; only rows with at least one. Shape (n,).

    `seconds` and `log_microseconds` are sums over the operations. A series that is new, was missing at the start, or
    whose counter was reset has no row this time; `resets` counts the last. Nor has a series whose sums contradict
    each other.
    """

    start: float
    end: float
    labels: Labels  # comm, rank, op, size, algo, proto
    operations: Floats
    seconds: Floats
    log_microseconds: Floats
    progress: Progress
    resets: int
    spans: RankTable = field(default_factory=RankTable.empty)

    @property
    def length_seconds(self) -> float:
        """How long the window is."""
        return self.end - self.start

    @cached_property
    def sampling_scale(self) -> Floats:
        """How many operations each measured one stands for, those of its (communicator, op) together. Shape (n,)."""
        return sampling_scale(self.labels, self.operations, self.progress.labels, self.progress.launched, "comm", "op")

    def span_seconds(self, comm: Codes, rank: Codes) -> Floats:
        """How long each of these ranks' counters counted for it; its length where that is not known. Shape (n,)."""
        return self.spans.of(comm, rank, self.length_seconds)


# In one window: beyond it a counter is broken.
_MOST_OPERATIONS, _MOST_SECONDS = 1e12, 1e9


class Differencer:
    """Folds snapshots, in the order of time, into the windows between them."""

    def __init__(self) -> None:
        self._time: float | None = None
        self._labels, self._launching = LabelReader(), LabelReader()
        self._cells = Difference(3)
        self._started = Difference(1)
        self._spans = SpanReader()

    def step(self, snapshot: Snapshot) -> Window | None:
        """The window that ends at this snapshot; None for the first one. ValueError when time does not advance."""
        if self._time is not None and snapshot.time <= self._time:
            raise ValueError(f"snapshots must advance in time: {snapshot.time} after {self._time}")
        cells, started = snapshot.cells, snapshot.started
        labels = self._labels.read(
            comm=cells.comm, rank=cells.rank, op=cells.op, size=cells.size, algo=cells.algo, proto=cells.proto
        )
        launching = self._launching.read(comm=started.comm, rank=started.rank, op=started.op)
        gain = self._cells.step(labels.columns, (cells.operations, cells.seconds, cells.log_microseconds))
        (launched,) = self._started.step(launching.columns, (started.started,))
        spans = self._spans.step(snapshot)
        start, self._time = self._time, snapshot.time
        if start is None:
            return None
        reset = np.any(gain < 0, axis=0)
        keep = ~reset & np.isfinite(gain).all(axis=0) & (gain[0] > 0) & _plausible(*gain)
        operations, seconds, log_microseconds = gain if keep.all() else gain[:, keep]
        return Window(
            start=start,
            end=snapshot.time,
            labels=labels.where(keep),
            operations=operations,
            seconds=seconds,
            log_microseconds=log_microseconds,
            progress=Progress(launching, np.where(launched < 0, np.nan, launched), started.started),
            resets=int(np.count_nonzero(reset)),
            spans=spans,
        )


def _plausible(operations: Floats, seconds: Floats, log_microseconds: Floats) -> npt.NDArray[np.bool_]:
    """Whether geometric and arithmetic mean can belong to the same durations. Shape (n,).

    A geometric mean is never above the arithmetic one; the logarithm's floor of 1 us adds at most that much.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mean_microseconds = 1e6 * seconds / operations
        contradict = log_microseconds / operations > np.log1p(mean_microseconds) + 1e-6
        return np.asarray(~contradict & (operations < _MOST_OPERATIONS) & (seconds < _MOST_SECONDS))
