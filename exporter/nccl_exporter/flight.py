"""Flight words: the operations that were launched and have not ended."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nccl_exporter import layout
from nccl_exporter.table import Flags, Words

_PLACE_MASK: Final = layout.IN_FLIGHT - 1

Counts = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Flights:
    """By operation row: how many are in flight, and how many of those its `launched` has not counted yet.

    `oldest_ns` is when the oldest was launched, on CLOCK_MONOTONIC, rounded down to 2^24 ns; None when there is none.
    """

    in_flight: Counts
    uncounted: Counts
    oldest_ns: int | None


NONE: Final = Flights(np.zeros(layout.OPERATIONS, np.intp), np.zeros(layout.OPERATIONS, np.intp), None)


def named(words: Words, commits: Words) -> NDArray[Any]:
    """Places of the flight words that a commit names: their operations have ended."""
    commits = commits[(commits & np.uint64(layout.COMMIT_NAMES)) != 0].astype(np.int64)
    places = (commits >> layout.COMMIT_PLACE_SHIFT) & _PLACE_MASK
    generations = (commits >> layout.COMMIT_GENERATION_SHIFT) & layout.FLIGHT_GENERATION_MASK
    flying: NDArray[np.int64] = words[places].astype(np.int64)
    named_places: NDArray[Any] = places[(flying & layout.FLIGHT_GENERATION_MASK) == generations]
    return named_places


def decode(
    words: Words, commits: Words, launched: Words, opened: Flags, *, since_ns: int, now_ns: int, rejected: Counter[str]
) -> Flights:
    """What is in flight.

    `commits` are those of every row; `launched` and `opened` are by operation row. Words of an operation that is not
    there, from before the process began (`since_ns`) or from the future, are counted as rejected.
    """
    used = words != 0
    used[named(words, commits)] = False
    flying = words[used]
    if not flying.size:
        return NONE
    times = (flying >> np.uint64(layout.FLIGHT_TIME_SHIFT)).astype(np.int64)
    rest = (flying & np.uint64((1 << layout.FLIGHT_TIME_SHIFT) - 1)).astype(np.int64)
    rows = rest >> layout.FLIGHT_OPERATION_SHIFT
    numbers = (rest >> layout.FLIGHT_NUMBER_SHIFT) & layout.FLIGHT_NUMBER_MASK
    good = opened[rows] & (times >= since_ns >> layout.FLIGHT_TIME_UNIT) & (times <= now_ns >> layout.FLIGHT_TIME_UNIT)
    if not good.all():
        rejected["in_flight"] += int(np.count_nonzero(~good))
        times, rows, numbers = times[good], rows[good], numbers[good]
        if not times.size:
            return NONE
    low = (launched & np.uint64(layout.FLIGHT_NUMBER_MASK)).astype(np.int64)
    # Those launched since `launched` was read, as many as there are places at most. All others are behind it, and one
    # whose thread lost its processor while it ended may be far behind.
    uncounted = (numbers - low[rows]) & layout.FLIGHT_NUMBER_MASK <= layout.IN_FLIGHT
    return Flights(
        np.bincount(rows, minlength=layout.OPERATIONS),
        np.bincount(rows[uncounted], minlength=layout.OPERATIONS),
        int(times.min()) << layout.FLIGHT_TIME_UNIT,
    )
