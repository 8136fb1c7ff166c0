"""What the store knows: the counters of each machine as of its last scrape."""

import numpy as np
import numpy.typing as npt
from simulator.ledger import Key, Ledger

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_INTERVALS_MISSED = 2.5  # the metric contract: then a series without a new sample is gone
_LOOKBACK_SECONDS = 300.0  # Prometheus shows an older sample no more; how old an exporter's is, the table says


class Scraper:
    """Counters by key, and when each rank's and each machine's newest sample was taken (Unix seconds, NaN: none)."""

    def __init__(self, machines: int, interval_seconds: float) -> None:
        self._interval = interval_seconds
        self.counts: dict[Key, Floats] = {}
        self.rank_sampled_at = np.empty(0)
        self.machine_sampled_at = np.full(machines, np.nan)

    def forget(self, ranks: int) -> None:
        """Other processes from now on."""
        self.counts = {}
        self.rank_sampled_at = np.full(ranks, np.nan)

    def scrape(self, time: float, ledger: Ledger, machines: Flags, node_of: Ints, alive: Flags) -> None:
        """Take the samples of some machines, which answer; processes that are not alive have no series any more."""
        self.machine_sampled_at[machines] = time
        heard = machines[node_of]
        self.rank_sampled_at[heard] = np.where(alive[heard], time, np.nan)
        everybody = bool(heard.all())
        for key, counts in ledger.counts.items():
            known = self.counts.get(key)
            if known is None:
                known = self.counts[key] = np.zeros_like(counts)
            if everybody:
                np.copyto(known, counts)
            else:
                known[:, heard] = counts[:, heard]

    def fail(self, machines: Flags, node_of: Ints) -> None:
        """These do not answer: the store marks their series as stale."""
        self.machine_sampled_at[machines] = np.nan
        self.rank_sampled_at[machines[node_of]] = np.nan

    def shown(self, time: float) -> Flags:
        """Whose series are there. Shape (ranks,)."""
        return np.asarray(time - self.rank_sampled_at <= _INTERVALS_MISSED * self._interval)  # NaN is not

    def answering(self, time: float) -> Flags:
        """Whose exporter the store shows. Shape (machines,)."""
        return np.asarray(time - self.machine_sampled_at < _LOOKBACK_SECONDS)
