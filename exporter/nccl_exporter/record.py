"""Copying parts of a mapped file into numpy records.

The file is read with preadv and not through a mapping of ours: the job that wrote it may cut it short at any moment,
and touching a page that is gone kills the reader (SIGBUS), while a short read is an answer. Both see the same page
cache, and copy aligned 64-bit words whole.
"""

import os
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nccl_exporter.errors import SourceError

Records = NDArray[Any]


class Buffer:
    """Memory for one copy of `count` records; `records` is what the last `fill` read."""

    def __init__(self, dtype: "np.dtype[Any]", count: int = 1) -> None:
        self._memory: Final = bytearray(dtype.itemsize * count)
        self.records: Final[Records] = np.frombuffer(self._memory, dtype)

    def fill(self, descriptor: int, offset: int) -> Records:
        """Read the records at `offset`. Raises SourceError when the file ends before."""
        try:
            got = os.preadv(descriptor, [self._memory], offset)
        except OSError as error:
            raise SourceError("io", str(error.strerror)) from error
        if got != len(self._memory):
            raise SourceError("size", "cut short while it was read")
        return self.records
