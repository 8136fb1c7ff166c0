"""What happened between two snapshots."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sentinel.measure.difference import Difference
from sentinel.measure.spans import SpanReader, Spans
from sentinel.model.snapshot import Snapshot
from sentinel.model.vocabulary import Codes

__all__ = ["Differencer", "Progress", "Window"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Progress:
    """Collectives launched in the window, by (comm, rank, op). `total` is the counter itself. Shape (n,)."""

    comm: Codes
    rank: Codes
    op: Codes
    launched: Floats  # NaN where it is not known: a new series, or a counter that was reset
    total: Floats


@dataclass(frozen=True)
class Window:
    """Operations that finished in (start, end], by cell and rank; only rows with at least one. Shape (n,).

    `seconds` and `log_microseconds` are sums over the operations. A series that is new, was missing at the start, or
    whose counter was reset has no row this time; `resets` counts the last. Nor has a series whose sums contradict
    each other.
    """

    start: float
    end: float
    comm: Codes
    rank: Codes
    op: Codes
    size: Codes
    algo: Codes
    proto: Codes
    operations: Floats
    seconds: Floats
    log_microseconds: Floats
    progress: Progress
    resets: int
    spans: Spans = field(default_factory=Spans.unknown)

    @property
    def length_seconds(self) -> float:
        """How long the window is."""
        return self.end - self.start

    def span_seconds(self, comm: Codes, rank: Codes) -> Floats:
        """How long each of these ranks' counters counted for it; its length where that is not known. Shape (n,)."""
        return self.spans.of(comm, rank, self.length_seconds)


# In one window: beyond it a counter is broken.
_MOST_OPERATIONS, _MOST_SECONDS = 1e12, 1e9


class Differencer:
    """Folds snapshots, in the order of time, into the windows between them."""

    def __init__(self) -> None:
        self._time: float | None = None
        self._cells = Difference(3)
        self._started = Difference(1)
        self._spans = SpanReader()

    def step(self, snapshot: Snapshot) -> Window | None:
        """The window that ends at this snapshot; None for the first one. ValueError when time does not advance."""
        if self._time is not None and snapshot.time <= self._time:
            raise ValueError(f"snapshots must advance in time: {snapshot.time} after {self._time}")
        cells, started = snapshot.cells, snapshot.started
        delta = self._cells.step(
            (cells.comm, cells.rank, cells.op, cells.size, cells.algo, cells.proto),
            (cells.operations, cells.seconds, cells.log_microseconds),
        )
        launched = self._started.step((started.comm, started.rank, started.op), (started.started,))
        spans = self._spans.step(snapshot)
        start, self._time = self._time, snapshot.time
        if start is None:
            return None
        reset = np.any(delta < 0, axis=1)
        keep = ~reset & np.all(np.isfinite(delta), axis=1) & (delta[:, 0] > 0) & _plausible(delta)
        return Window(
            start=start,
            end=snapshot.time,
            comm=cells.comm[keep],
            rank=cells.rank[keep],
            op=cells.op[keep],
            size=cells.size[keep],
            algo=cells.algo[keep],
            proto=cells.proto[keep],
            operations=delta[keep, 0],
            seconds=delta[keep, 1],
            log_microseconds=delta[keep, 2],
            progress=Progress(
                comm=started.comm,
                rank=started.rank,
                op=started.op,
                launched=np.where(launched[:, 0] < 0, np.nan, launched[:, 0]),
                total=started.started,
            ),
            resets=int(np.count_nonzero(reset)),
            spans=spans,
        )


def _plausible(delta: Floats) -> npt.NDArray[np.bool_]:
    """Whether geometric and arithmetic mean can belong to the same durations.

    delta: operations, seconds, log microseconds, shape (n, 3). A geometric mean is never above the arithmetic one; the
    logarithm's floor of 1 us adds at most that much.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mean_microseconds = 1e6 * delta[:, 1] / delta[:, 0]
        contradict = delta[:, 2] / delta[:, 0] > np.log1p(mean_microseconds) + 1e-6
        return np.asarray(~contradict & (delta[:, 0] < _MOST_OPERATIONS) & (delta[:, 1] < _MOST_SECONDS))
