"""A recorded job: every rank's callbacks, cut into steps that are the same on all ranks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sentinel.errors import TraceError
from sentinel.trace.operation import Operations, find_operations
from sentinel.trace.recording import Integers, Recording, read_recording
from sentinel.trace.step import assign_steps, find_steps
from sentinel.trace.step_range import StepRange

__all__ = ["RankTrace", "Trace", "read_trace"]

_FILE = re.compile(r"rank(\d+)\.jsonl\.xz")


@dataclass(frozen=True)
class RankTrace:
    """One rank: what was recorded, its operations, and the step of each event (n,), -1 where it is in none."""

    recording: Recording
    operations: Operations
    step: Integers


@dataclass(frozen=True)
class Trace:
    """A job as it was recorded.

    `ranks` by global rank. `boundaries_ns` (steps + 1,): when each step begins on the first rank to begin it, and last
    the last callback of the last step; CLOCK_MONOTONIC of the recorded host, the same for all ranks.
    """

    directory: Path
    ranks: tuple[RankTrace, ...]
    boundaries_ns: Integers

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.boundaries_ns) - 1

    @property
    def step_seconds(self) -> float:
        """How long a step lasts (median)."""
        return float(np.median(np.diff(self.boundaries_ns))) * 1e-9

    @property
    def nnodes(self) -> int:
        """Number of hosts: that of the largest communicator."""
        communicators = (each for rank in self.ranks for each in rank.recording.communicators)
        return max(communicators, key=lambda each: each.nranks).nnodes

    def seconds(self, steps: StepRange) -> float:
        """How long a range of steps lasts. TraceError when it is not in the trace."""
        steps.check(self.steps, str(self.directory))
        return float(self.boundaries_ns[steps.last] - self.boundaries_ns[steps.first]) * 1e-9


def read_trace(directory: Path, *, ops_per_step: int | None = None) -> Trace:
    """Read the files `rankNN.jsonl.xz` of a folder; docs/trace-player.md describes them.

    TraceError when the folder, a file, a line or a field is not what it should be, when a rank is missing, or when
    steps cannot be told; `ops_per_step` says how many operations a step has where the trace does not show it.
    """
    recordings = [read_recording(path, rank) for rank, path in enumerate(_find_files(directory))]
    operations = [find_operations(recording) for recording in recordings]
    count, steps = find_steps(recordings, operations, ops_per_step)
    ranks = tuple(
        RankTrace(recording, each, assign_steps(recording, each, step))
        for recording, each, step in zip(recordings, operations, steps, strict=True)
    )
    return Trace(directory, ranks, _find_boundaries(ranks, count))


def _find_files(directory: Path) -> list[Path]:
    """The ranks' files, in order of rank."""
    hint = "A trace is a folder with one file rankNN.jsonl.xz for each rank, from 00 on"
    try:
        files = {int(match[1]): path for path in directory.iterdir() if (match := _FILE.fullmatch(path.name))}
    except OSError as error:
        raise TraceError("cannot read a trace", where=str(directory), why=str(error.strerror), hint=hint) from error
    if not files:
        raise TraceError(
            "cannot read a trace", where=str(directory), why="there is no rankNN.jsonl.xz in it", hint=hint
        )
    missing = sorted(set(range(max(files))) - set(files))
    if missing:
        names = ", ".join(f"rank{rank:02d}.jsonl.xz" for rank in missing[:5])
        raise TraceError("cannot read a trace", where=str(directory), why=f"{names} missing", hint=hint)
    return [files[rank] for rank in sorted(files)]


def _find_boundaries(ranks: Sequence[RankTrace], steps: int) -> Integers:
    boundaries = np.full(steps + 1, np.iinfo(np.int64).max)
    end = 0
    for rank in ranks:
        inside = rank.step >= 0
        times = rank.recording.events["time_ns"][inside]
        np.minimum.at(boundaries, rank.step[inside], times)
        end = max(end, int(times.max()))
    boundaries[steps] = end
    return boundaries
