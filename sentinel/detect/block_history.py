"""The last hours of many series, thinned to medians of blocks."""

import numpy as np
import numpy.typing as npt

from sentinel.measure.row_space import Column, Rows, RowSpace

__all__ = ["BLOCKS", "BlockHistory"]

Floats = npt.NDArray[np.float64]

BLOCKS = 64
_PARTS = 15  # of a block: its median is that of the means of its parts


class BlockHistory:
    """`BLOCKS` blocks of `horizon_seconds` together, all series in step with the clock.

    A block's value is the median of the means of its parts, so that a few bad ticks do not move it and not every tick
    has to be kept. NaN where nothing was measured.
    """

    def __init__(self, horizon_seconds: float, space: RowSpace) -> None:
        self.block_seconds = horizon_seconds / BLOCKS
        self._number: int | None = None  # of the block that is being filled
        self._blocks = Column(space, np.nan, (BLOCKS,))  # ring, by number
        self._sums, self._counts = (Column(space, 0.0, (_PARTS,)) for _ in range(2))

    def add(self, rows: Rows, values: Floats, time: float) -> bool:
        """One tick at the Unix time `time`. rows, values: shape (n,), no row twice. Whether a block was closed."""
        number = int(time // self.block_seconds)
        closed = self._number is not None and number != self._number
        if closed:
            self._close(number)
        self._number = number
        part = min(_PARTS - 1, int((time - number * self.block_seconds) / self.block_seconds * _PARTS))
        self._sums.values[rows, part] += values
        self._counts.values[rows, part] += 1
        return closed

    def closed(self) -> Floats:
        """The closed blocks of all rows, the oldest first. Shape (n, BLOCKS)."""
        assert self._number is not None  # noqa: S101 (add came before)
        order = (self._number + np.arange(BLOCKS)) % BLOCKS  # the one that is being filled has the place of the oldest
        return self._blocks.values[:, order]

    def end(self) -> float:
        """When the newest closed block ended, Unix seconds."""
        assert self._number is not None  # noqa: S101
        return self._number * self.block_seconds

    def _close(self, number: int) -> None:
        assert self._number is not None  # noqa: S101
        blocks, sums, counts = self._blocks.values, self._sums.values, self._counts.values
        means = np.divide(sums, counts, out=np.full_like(sums, np.inf), where=counts > 0)
        means.sort(axis=1)  # parts without a value come last
        filled = np.count_nonzero(counts > 0, axis=1)
        row, last = np.arange(len(means)), np.maximum(filled - 1, 0)
        middle = 0.5 * (means[row, last // 2] + means[row, (last + 1) // 2])
        blocks[:, self._number % BLOCKS] = np.where(filled > 0, middle, np.nan)
        # Blocks that nobody filled are not those of a horizon ago.
        for missed in range(self._number + 1, min(number, self._number + BLOCKS + 1)):
            blocks[:, missed % BLOCKS] = np.nan
        sums[:] = counts[:] = 0.0
