"""Steps: the shortest pattern of operations that repeats over a trace."""

from collections.abc import Sequence

import numpy as np

from sentinel.errors import TraceError
from sentinel.trace.operation import Operations
from sentinel.trace.recording import Integers, Recording

__all__ = ["assign_steps", "find_steps"]


def find_steps(
    recordings: Sequence[Recording], operations: Sequence[Operations], ops_per_step: int | None
) -> tuple[int, list[Integers]]:
    """The number of steps, and for each rank the step of each of its operations (-1 where it is in none).

    A step is the shortest repeating run of (type, communicator, func); message sizes do not matter, and a few
    operations at the end need not fit. With `ops_per_step`, steps have that many operations; what is then left over may
    come first (warm-up) or last, so steps are made to begin after the longest pauses.

    TraceError when no pattern is found or ranks do not have the same number of steps.
    """
    if ops_per_step is None:
        patterns = [_find_pattern(*pair) for pair in zip(recordings, operations, strict=True)]
        lead = 0
    else:
        lengths = [len(each.starts) for each in operations]
        if not 1 <= ops_per_step <= min(lengths):
            raise TraceError(
                f"cannot make steps of {ops_per_step} operations",
                where=str(recordings[0].path.parent),
                hint=f"Allowed is a whole number from 1 to {min(lengths)}, the operations of the shortest rank",
            )
        patterns = [(ops_per_step, length // ops_per_step) for length in lengths]
        lead = _find_lead(recordings, operations, ops_per_step)
    counts = [count for _, count in patterns]
    if len(set(counts)) > 1:
        rank = next(rank for rank, count in enumerate(counts) if count != counts[0])
        raise TraceError(
            "cannot find the steps of a trace",
            where=str(recordings[rank].path),
            why=f"rank {rank} has {counts[rank]} steps, rank 0 has {counts[0]}",
            hint="All ranks must have the same number of steps; give the number of operations in a step if you know it",
        )
    steps = []
    for (period, count), each in zip(patterns, operations, strict=True):
        step = (np.arange(len(each.starts)) - lead) // period
        steps.append(np.where((step >= 0) & (step < count), step, -1))
    return counts[0], steps


def assign_steps(recording: Recording, operations: Operations, step_of_operation: Integers) -> Integers:
    """The step of each event of a recording, shape (n,), -1 where it is in none.

    What belongs to no operation (an empty group, a proxy thread that goes to sleep) counts to the step in which it
    began; the capture of a graph counts to none.
    """
    begun = np.maximum.accumulate(step_of_operation) if len(step_of_operation) else step_of_operation
    before = np.searchsorted(operations.starts, recording.starts, side="right") - 1
    by_time = np.where(before >= 0, begun[np.maximum(before, 0)], -1)
    last = np.flatnonzero(step_of_operation >= 0)
    if last.size and last[-1] + 1 < len(operations.starts):
        by_time[recording.starts >= operations.starts[last[-1] + 1]] = -1
    own = np.where(operations.number >= 0, step_of_operation[np.maximum(operations.number, 0)], by_time)
    own[operations.captured] = -1
    assigned: Integers = own[recording.events["slot"]]
    return assigned


def _find_pattern(recording: Recording, operations: Operations) -> tuple[int, int]:
    """Operations in a step, and steps."""
    events = recording.events[operations.starts]
    key = (events["type"].astype(np.int64) << 32) + (events["communicator"].astype(np.int64) << 16) + events["func"]
    length = len(key)
    for period in range(1, length // 2 + 1):
        different = np.flatnonzero(key[period:] != key[:-period])
        fitting = period + int(different[0]) if different.size else length
        count = fitting // period
        rest = length - count * period
        if count >= 2 and (rest < period or rest * 10 <= length):
            return period, count
    raise TraceError(
        "cannot find the steps of a trace",
        where=str(recording.path),
        why=f"no pattern of operations repeats ({length} operations)",
        hint="Give the number of operations in a step if you know it",
    )


def _find_lead(recordings: Sequence[Recording], operations: Sequence[Operations], period: int) -> int:
    """How many operations to leave out at the beginning, so that the pauses before steps are longest."""
    spare = min(len(each.starts) % period for each in operations)
    pauses = np.zeros(spare + 1)
    for recording, each in zip(recordings, operations, strict=True):
        gaps = np.diff(recording.events["time_ns"][each.starts])
        if len(each.starts) >= 2 * period:
            pauses += [np.median(gaps[lead + period - 1 :: period]) for lead in range(spare + 1)]
    return int(np.argmax(pauses))
