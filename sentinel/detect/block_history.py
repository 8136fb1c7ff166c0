"""The last hours of many series, thinned to medians of blocks."""

import numpy as np
import numpy.typing as npt

from sentinel.measure.index import Rows, grown

__all__ = ["BLOCKS", "BlockHistory"]

Floats = npt.NDArray[np.float64]

BLOCKS = 64
_PARTS = 15  # of a block: its median is that of the means of its parts


class BlockHistory:
    """`BLOCKS` blocks of `horizon_seconds` together, all series in step with the clock.

    A block's value is the median of the means of its parts, so that a few bad ticks do not move it and not every tick
    has to be kept. NaN where nothing was measured.
    """

    def __init__(self, horizon_seconds: float) -> None:
        self.block_seconds = horizon_seconds / BLOCKS
        self._number: int | None = None  # of the block that is being filled
        self._blocks = np.empty((0, BLOCKS))  # ring, by number
        self._sums, self._counts = np.empty((0, _PARTS)), np.empty((0, _PARTS))

    def add(self, rows: Rows, values: Floats, time: float) -> bool:
        """One tick at the Unix time `time`. rows, values: shape (n,), no row twice. Whether a block was closed."""
        number = int(time // self.block_seconds)
        closed = self._number is not None and number != self._number
        if closed:
            self._close(number)
        self._number = number
        size = int(rows.max()) + 1 if len(rows) else 0
        self._blocks = grown(self._blocks, size, np.nan)
        self._sums, self._counts = grown(self._sums, size, 0.0), grown(self._counts, size, 0.0)
        part = min(_PARTS - 1, int((time - number * self.block_seconds) / self.block_seconds * _PARTS))
        self._sums[rows, part] += values
        self._counts[rows, part] += 1
        return closed

    def closed(self, size: int) -> Floats:
        """The closed blocks of the first `size` series, the oldest first. Shape (size, BLOCKS)."""
        assert self._number is not None  # noqa: S101 (add came before)
        order = (self._number + np.arange(BLOCKS)) % BLOCKS  # the one that is being filled has the place of the oldest
        return grown(self._blocks, size, np.nan)[:size, order]

    def end(self) -> float:
        """When the newest closed block ended, Unix seconds."""
        assert self._number is not None  # noqa: S101
        return self._number * self.block_seconds

    def clear(self, rows: Rows) -> None:
        """Forget these series."""
        self._blocks[rows] = np.nan
        self._sums[rows] = self._counts[rows] = 0.0

    def _close(self, number: int) -> None:
        assert self._number is not None  # noqa: S101
        means = np.divide(self._sums, self._counts, out=np.full_like(self._sums, np.inf), where=self._counts > 0)
        means.sort(axis=1)  # parts without a value come last
        filled = np.count_nonzero(self._counts > 0, axis=1)
        row, last = np.arange(len(means)), np.maximum(filled - 1, 0)
        middle = 0.5 * (means[row, last // 2] + means[row, (last + 1) // 2])
        self._blocks[:, self._number % BLOCKS] = np.where(filled > 0, middle, np.nan)
        # Blocks that nobody filled are not those of a horizon ago.
        for missed in range(self._number + 1, min(number, self._number + BLOCKS + 1)):
            self._blocks[:, missed % BLOCKS] = np.nan
        self._sums[:] = self._counts[:] = 0.0
