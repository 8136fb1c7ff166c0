"""How the ranks of one communicator did over time: the culprits apart, the others as their distribution."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.measure.lateness import Lateness
from sentinel.measure.window import Progress, Window
from sentinel.model.vocabulary import Vocabulary

__all__ = [
    "CULPRITS_SHOWN",
    "PEERS_PERCENTILES",
    "CellCourse",
    "CellLabels",
    "CommunicatorCourse",
    "Course",
    "Recorder",
]

Floats = npt.NDArray[np.float64]
CellLabels = tuple[str, str, str, str]
"""op, size, algo, proto."""

PEERS_PERCENTILES = (0, 10, 50, 90, 100)
CULPRITS_SHOWN = 8  # as many lines as eyes tell apart


@dataclass(frozen=True)
class Course:
    """One quantity at n instants; NaN where it is not known.

    `culprits`: shape (n, k), one column a culprit. `peers`: shape (n, 5), their `PEERS_PERCENTILES`. A value is of the
    window that ends at its instant.
    """

    culprits: Floats
    peers: Floats


@dataclass(frozen=True)
class CellCourse:
    """One cell. `total_seconds` is the time that all ranks together spent in it."""

    labels: CellLabels
    total_seconds: float
    duration_seconds: Course  # means over the operations of a tick
    lateness_seconds: Course


@dataclass(frozen=True)
class CommunicatorCourse:
    """`times`: n instants, Unix seconds. `ranks`: the global ranks of the k culprits that are shown, sorted.

    `cells` are in the order of the time spent in them, most first. `launched_rate`: collectives per second.
    """

    times: Floats
    ranks: tuple[int, ...]
    cells: tuple[CellCourse, ...]
    launched_rate: Course

    @property
    def empty(self) -> bool:
        """Whether nothing was measured, nor known to be launched, at any time."""
        return not self.cells and not np.isfinite(self.launched_rate.peers).any()


class Recorder:
    """Reduces each window at once to a few numbers a cell: what is kept does not grow with the number of ranks.

    `culprits` maps ranks in the communicator to global ranks; of many the first `CULPRITS_SHOWN` are shown, and none is
    a peer.
    """

    def __init__(self, comm: int, vocabulary: Vocabulary) -> None:
        self._comm = comm
        self._vocabulary = vocabulary
        self._times: list[float] = []
        self._cells: dict[tuple[int, ...], dict[int, tuple[_Row, _Row]]] = {}
        self._seconds: dict[tuple[int, ...], float] = {}
        self._launched: dict[int, _Row] = {}
        self._ranks: set[int] = set()

    def add(self, time: float, window: Window | None, lateness: Lateness | None, culprits: Mapping[int, int]) -> None:
        """One instant (Unix seconds), and the window that ends at it, if there is one."""
        self._times.append(time)
        self._ranks.update(culprits.values())
        if window is None or lateness is None:
            return
        now = len(self._times) - 1
        mine = np.flatnonzero(lateness.comm == self._comm)
        for cell in np.unique(lateness.cell[mine]).tolist():
            rows = mine[lateness.cell[mine] == cell]
            labels = (lateness.op, lateness.size, lateness.algo, lateness.proto)
            key = tuple(int(label[rows[0]]) for label in labels)
            ranks = lateness.rank[rows]
            self._cells.setdefault(key, {})[now] = (
                _Row.of(ranks, lateness.mean_seconds[rows], culprits),
                _Row.of(ranks, lateness.wait_seconds[rows], culprits),
            )
            spent = float(np.sum(lateness.mean_seconds[rows] * lateness.operations[rows]))
            self._seconds[key] = self._seconds.get(key, 0.0) + spent
        ranks, launched = _launched(window.progress, self._comm)
        if len(ranks):
            self._launched[now] = _Row.of(ranks, launched / window.length_seconds, culprits)

    def course(self) -> CommunicatorCourse:
        """All that was added."""
        shown = tuple(sorted(self._ranks)[:CULPRITS_SHOWN])
        count, text = len(self._times), self._vocabulary.text
        cells = [
            CellCourse(
                labels=(text(key[0]), text(key[1]), text(key[2]), text(key[3])),
                total_seconds=self._seconds[key],
                duration_seconds=_assemble({at: row[0] for at, row in rows.items()}, count, shown),
                lateness_seconds=_assemble({at: row[1] for at, row in rows.items()}, count, shown),
            )
            for key, rows in self._cells.items()
        ]
        cells.sort(key=lambda cell: (-cell.total_seconds, cell.labels))
        return CommunicatorCourse(np.array(self._times), shown, tuple(cells), _assemble(self._launched, count, shown))


@dataclass(frozen=True)
class _Row:
    """One quantity in one window: the culprits' values by global rank, and the peers' percentiles."""

    culprits: Mapping[int, float]
    peers: Floats

    @classmethod
    def of(cls, ranks: npt.NDArray[np.int32], values: Floats, culprits: Mapping[int, int]) -> "_Row":
        accused = np.isin(ranks, np.fromiter(culprits, dtype=np.int64))
        named = zip(ranks[accused].tolist(), values[accused].tolist(), strict=True)
        peers = values[~accused]
        peers = peers[np.isfinite(peers)]
        spread = np.percentile(peers, PEERS_PERCENTILES) if len(peers) else np.full(len(PEERS_PERCENTILES), np.nan)
        return cls({culprits[rank]: value for rank, value in named}, spread)


def _launched(progress: Progress, comm: int) -> tuple[npt.NDArray[np.int32], Floats]:
    """Collectives that each rank launched; NaN where one of its counters says nothing."""
    mine = progress.comm == comm
    ranks, inverse = np.unique(progress.rank[mine], return_inverse=True)
    launched = np.bincount(inverse, weights=progress.launched[mine], minlength=len(ranks))
    return ranks, launched.astype(np.float64)


def _assemble(rows: Mapping[int, _Row], count: int, shown: tuple[int, ...]) -> Course:
    culprits, peers = np.full((count, len(shown)), np.nan), np.full((count, len(PEERS_PERCENTILES)), np.nan)
    for at, row in rows.items():
        culprits[at] = [row.culprits.get(rank, np.nan) for rank in shown]
        peers[at] = row.peers
    return Course(culprits, peers)
