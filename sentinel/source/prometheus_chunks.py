"""Range queries over as many instants at a time as memory and the server allow."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from sentinel.source.prometheus_grid import Axis, Grid
from sentinel.source.prometheus_session import AnswerTooLargeError

__all__ = ["read_in_chunks"]

Grids = TypeVar("Grids", bound=Iterable[Grid])

# A range query's answer is decoded whole: about 200 bytes a sample, so this bounds it to tens of MiB.
_SAMPLES_PER_QUERY = 300_000
_FIRST_INSTANTS = 16  # before the number of series is known
_MOST_INSTANTS = 10_000  # servers refuse more than 11,000 points per series


def read_in_chunks(
    start: float, end: float, step: float, read: Callable[[Axis], Grids]
) -> Iterator[tuple[Axis, Grids]]:
    """What `read` gives for every part of start, start + step, … ≤ end (Unix seconds), in order. SourceError."""
    first, step_ms = round(start * 1000), round(step * 1000)
    if step_ms <= 0:
        raise ValueError(f"a step of {step} s")
    total = (round(end * 1000) - first) // step_ms + 1
    done, most = 0, _FIRST_INSTANTS
    while done < total:
        axis = Axis(first + done * step_ms, step_ms, min(most, total - done))
        try:
            grids = read(axis)
        except AnswerTooLargeError:
            if axis.count == 1:
                raise
            most = axis.count // 2
            continue
        yield axis, grids
        done += axis.count
        series = max(1, *(len(grid.keys) * len(grid.values) for grid in grids))
        most = min(_SAMPLES_PER_QUERY // series, _MOST_INSTANTS, most * 8) or 1
