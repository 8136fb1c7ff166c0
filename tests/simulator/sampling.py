"""Which operations are timed: the same on all ranks, by their number."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Stream = tuple[str, str]
"""Kind of communicator and operation."""


@dataclass
class Sampling:
    """`burst` of every `period` operations of a stream; all of a stream of few operations a second.

    A stream begins whole; above `many` a second it is sampled, below `few` it is whole again.
    """

    burst: int = 4
    period: int = 64
    few: float = 40.0
    many: float = 60.0
    _is_whole: dict[Stream, bool] = field(default_factory=dict, repr=False)

    @classmethod
    def everything(cls) -> "Sampling":
        """Every operation is timed."""
        return cls(burst=1, period=1)

    def observe(self, stream: Stream, rate: float) -> None:
        """Take note of a stream's operations a second."""
        whole = self._is_whole.get(stream, True)
        self._is_whole[stream] = (whole or rate < self.few) and not rate > self.many

    def timed(self, stream: Stream, number: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether operations are timed, by their numbers in the stream."""
        if self._is_whole.get(stream, True):
            return np.ones(number.shape, dtype=bool)
        return number % self.period < self.burst
