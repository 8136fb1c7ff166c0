"""One rank of the sampling check: all-reduces on three communicators, two of them interleaved, one slow."""

import time
from pathlib import Path
from typing import Any, Final

import torch
from gpu.pair.rank import Rank

_SLOW_SECONDS: Final = 0.03  # 33 a second
_BYTES: Final = 64 << 10


def start(rank: int, folder: Path) -> "SamplingJob":
    """Called in the rank's process."""
    return SamplingJob(Rank(rank, folder))


class SamplingJob:
    """A rank and its communicators."""

    def __init__(self, rank: Rank) -> None:
        self._rank = rank
        self._first, self._second, self._slow = (rank.communicator() for _ in range(3))

    def facts(self) -> dict[str, Any]:
        return self._rank.facts()

    def answer(self, request: str) -> None:
        buffer, address = self._rank.zeros(_BYTES)
        floats, stream = buffer.numel(), self._rank.stream_handle
        work, operations = request.split()
        if work == "interleaved":
            for number in range(1, int(operations) + 1):
                self._first.all_reduce(address, floats, stream)
                if number % 3 == 0:
                    self._second.all_reduce(address, floats, stream)
                if self._rank.rank == 1 and number % 100 == 0:
                    time.sleep(0.002)  # the ranks do not launch in step
        elif work == "slow":
            for _ in range(int(operations)):
                self._slow.all_reduce(address, floats, stream)
                time.sleep(_SLOW_SECONDS)
        else:
            raise ValueError(request)
        torch.cuda.synchronize()

    def close(self) -> None:
        self._rank.close()
