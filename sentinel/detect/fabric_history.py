"""How each communicator's transfers stand to their normal, in one tick, with a second witness."""

from collections.abc import Collection
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from sentinel.config.detection_slow_fabric import SlowFabricSettings
from sentinel.detect.learnt_normal import LearntNormal, Normals
from sentinel.detect.stored_transfers import StoredTransfers
from sentinel.measure.groups import Groups, group_rows
from sentinel.measure.index import SeriesIndex
from sentinel.measure.membership import Membership
from sentinel.measure.row_space import Column, Rows
from sentinel.measure.step_times import StepTimes
from sentinel.measure.transfers import Transfers
from sentinel.model.vocabulary import Codes, Vocabulary

__all__ = ["FabricHistory", "FabricReading", "Rise"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_CLEAR_SIGMAS = 3.0


@dataclass(frozen=True)
class FabricReading:
    """One value a communicator with a history, shape (c,), over those of its cells that have one.

    Rises are logarithms of how many times as long as normal something takes.
    """

    comm: Codes
    excess_seconds: Floats  # per operation
    cost_ratio: Floats  # seconds beyond the normal per second
    time_ratio: Floats  # seconds per second that transfers normally take
    cells_ratio: Floats  # share of transfer time in cells with slower transfers
    transfer: "Rise"  # of its transfers, by time
    wire: "Rise"  # of a network step; NaN where nothing is known of them
    normal_seconds: Floats  # by cell of the window, shape (m,); NaN where not known

    def risen(self) -> dict[int, float]:
        """The cost of transfers by communicator, where at this tick they are clearly longer than normal."""
        clearly = self.transfer.sigmas >= _CLEAR_SIGMAS
        return dict(zip(self.comm[clearly].tolist(), self.cost_ratio[clearly].tolist(), strict=True))

    @property
    def explained(self) -> Flags:
        """Whether network steps, where they are known, have grown by as much as transfers, give or take a root.

        A transfer is made of its steps: where it has grown by more than they have, the ranks were held up by something
        else, as those of a slow communicator are in their next one.
        """
        return np.asarray(np.isnan(self.wire.rise) | (self.wire.rise >= self.transfer.rise / 2))


@dataclass(frozen=True)
class Rise:
    """How far logarithms are above their normal, and what they scatter by from tick to tick. Shape (c,)."""

    rise: Floats
    noise: Floats  # standard deviation
    autocorrelation: Floats
    floor: float  # standard deviation that is always assumed beside it

    @property
    def ratio(self) -> Floats:
        """How many times as long as normal."""
        return np.exp(self.rise)

    @property
    def sigmas(self) -> Floats:
        """In standard deviations of one tick."""
        return np.asarray(self.rise / np.hypot(self.noise, self.floor))

    def at(self, place: Rows) -> "Rise":
        """Those of some."""
        return Rise(self.rise[place], self.noise[place], self.autocorrelation[place], self.floor)


class FabricHistory:
    """Learns the transfers of each cell, how much durations scatter in it, and the network steps of each communicator.

    The shortest duration rises with the transfer, and with the scatter of arrivals as well. So a second witness is
    asked. Where the communicator's network steps are known it is those: the lower quartile of its links, which a few
    slow links do not move. Else what more scatter can explain is taken off: the expected largest of n arrivals is at
    most H_n − 1 standard deviations above their mean (exponential tails; less for normal ones); H_n = 1 + 1/2 + …
    + 1/n.
    """

    def __init__(self, settings: SlowFabricSettings, min_ticks: int, stored: StoredTransfers) -> None:
        self._settings = settings
        self._stored = stored
        self._cells, self._comms = SeriesIndex(), SeriesIndex()
        self._shortest, self._scatter = (LearntNormal(min_ticks, self._cells) for _ in range(2))
        self._wire = LearntNormal(min_ticks, self._comms)
        self._table = Column(self._cells, np.nan, (3,))  # of the stored baseline, by cell: as `Normals`
        self._is_looked_up = Column(self._cells, False, dtype=np.bool_)

    def read(
        self, transfers: Transfers, times: StepTimes, membership: Membership, vocabulary: Vocabulary
    ) -> FabricReading:
        """One window. Cells and communicators without a history, and those whose links are silent, are left out."""
        cells = self._rows(transfers, membership, vocabulary)
        learnt, stored = self._shortest.normal(cells), Normals(*self._table[cells].T)
        is_stored = np.isfinite(stored.centre)
        normal, spread, rho = (
            np.where(is_stored, getattr(stored, each.name), getattr(learnt, each.name)) for each in fields(Normals)
        )
        of_cell, first = group_rows(transfers.comm)
        comm = transfers.comm[first]
        now, usual = _wire(comm, times, vocabulary), self._wire.normal(self._comms.rows(comm))
        wired = np.isfinite(usual.centre)
        # Taken off only where there is no better witness.
        scatter = np.nan_to_num(self._scatter.normal(cells).centre)
        more = np.maximum(0.0, transfers.scatter_seconds - scatter)
        explained = np.where(wired[of_cell], 0.0, (_harmonic(transfers.ranks) - 1.0) * more)
        seconds = np.maximum(transfers.shortest_seconds - explained, 1e-9)
        rise = np.log(seconds) - normal
        known = np.isfinite(rise)
        weight = np.where(known, transfers.rate * np.exp(np.nan_to_num(normal)), 0.0)

        def summed(values: Floats) -> Floats:
            return np.bincount(of_cell[known], values[known], len(comm)).astype(np.float64)

        total = summed(weight)
        judged = (total > 0) & (~wired | np.isfinite(now))
        total = np.where(total > 0, total, 1.0)
        beyond = (seconds - np.exp(normal)) * transfers.rate
        mean = summed(weight * rise) / total
        # As much as a cell must have of it to count: a part of what all of them have, and of what is asked for.
        slower = rise >= np.maximum(mean[of_cell], np.log(self._settings.min_ratio)) / 2
        # What the cells of a communicator scatter by may come from one cause: it adds up.
        noise = summed(weight * spread)
        last = np.divide(summed(weight * spread * rho), noise, out=np.zeros(len(comm)), where=noise > 0)
        floor = self._settings.noise_floor_ratio
        place = np.flatnonzero(judged)
        return FabricReading(
            comm=comm[judged],
            excess_seconds=(summed(beyond) / np.maximum(summed(transfers.rate), 1e-9))[judged],
            cost_ratio=np.clip(summed(beyond), 0.0, 1.0)[judged],
            time_ratio=total[judged],
            cells_ratio=(summed(weight * slower) / total)[judged],
            transfer=Rise(mean, noise / total, last, floor).at(place),
            wire=Rise(now - usual.centre, usual.spread, usual.autocorrelation, floor).at(place),
            normal_seconds=np.exp(normal),
        )

    def learn(self, transfers: Transfers, times: StepTimes, vocabulary: Vocabulary, fit: Codes) -> None:
        """Learn from the communicators in `fit`."""
        kept = np.isin(transfers.comm, fit)
        cells = self._cells.rows(*_labels(transfers))
        self._shortest.append(cells[kept], np.log(transfers.shortest_seconds[kept]))
        self._scatter.append(cells[kept], transfers.scatter_seconds[kept])
        comm = transfers.comm[group_rows(transfers.comm)[1]]
        wire = _wire(comm, times, vocabulary)
        kept = np.isin(comm, fit) & np.isfinite(wire)
        self._wire.append(self._comms.rows(comm)[kept], wire[kept])

    def forget(self, comms: Collection[int]) -> None:
        """These communicators are over."""
        self._cells.forget(comms)
        self._comms.forget(comms)

    def _rows(self, transfers: Transfers, membership: Membership, vocabulary: Vocabulary) -> Rows:
        rows = self._cells.rows(*_labels(transfers))
        new = np.flatnonzero(~self._is_looked_up[rows])
        self._is_looked_up[rows[new]] = True
        self._table[rows[new]] = self._stored.look_up(transfers, new, membership, vocabulary)
        return rows


def _labels(transfers: Transfers) -> tuple[Codes, ...]:
    return transfers.comm, transfers.op, transfers.size, transfers.algo, transfers.proto


def _wire(comm: Codes, times: StepTimes, vocabulary: Vocabulary) -> Floats:
    """Logarithm of the lower quartile, over the links of each communicator, of a sent step's seconds; NaN without."""
    out = np.full(len(comm), np.nan)
    sent = times.direction == (vocabulary.find("send") or 0)
    seconds, of_link = np.log(times.step_seconds[sent]), times.comm[sent]
    order = np.lexsort((seconds, of_link))
    links = Groups.of_rows(group_rows(of_link[order])[0])
    codes, quartile = of_link[order][links.first], seconds[order][links.first + (links.size - 1) // 4]
    place = np.searchsorted(comm, codes)
    there = (place < len(comm)) & (comm[np.minimum(place, len(comm) - 1)] == codes) if len(comm) else place < 0
    out[place[there]] = quartile[there]
    return out


def _harmonic(n: Floats) -> Floats:
    """1 + 1/2 + … + 1/n, by Euler's constant and the first terms of its expansion."""
    return np.log(n) + np.euler_gamma + 1 / (2 * n) - 1 / (12 * n**2)
