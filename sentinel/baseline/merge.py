"""Measured stretches made into a baseline, a few ranks at a time."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from sentinel.baseline.baseline import Baseline, BaselineRow
from sentinel.baseline.history import medians_of, statistics_of, steps_of
from sentinel.baseline.measured import CellName, CellPart, Measurements
from sentinel.baseline.people import People
from sentinel.measure.membership import Role
from sentinel.model.vocabulary import Codes

__all__ = ["merge"]

Floats = npt.NDArray[np.float64]

_MOST_VALUES = 1_000_000  # of each kind, at once

_Cell = tuple[Role, str, str, str, str]  # op, size, algo, proto
_Part = tuple[CellName, int, CellPart, Codes]  # with the stretch, and the ranks that its ranks have over all


def merge(
    measurements: Measurements,
    min_ticks: int,
    start: float,
    end: float,
    progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> Baseline:
    """What was learnt from `start` to `end` (Unix seconds): ranks with `min_ticks` windows in a cell, in order.

    Statistics are of all windows: nothing is thinned out or estimated from parts. `progress` is told of how many ranks
    of cells are done, of how many.
    """
    heads = measurements.heads
    people = People(heads)
    cells: dict[_Cell, list[CellName]] = defaultdict(list)
    for name in sorted(measurements.names()):
        cells[people.role(name.comm), name.op, name.size, name.algo, name.proto].append(name)
    rows: list[BaselineRow] = []
    done, total = 0, sum(role.nranks for role, *_ in cells)
    for cell in sorted(cells, key=_order):
        for ranks, found in _rows(measurements, people, cell, cells[cell], min_ticks):
            rows += found
            progress(min(done + ranks, total), total)
        done += cell[0].nranks
    progress(total, total)
    lengths = list(chain.from_iterable(head.lengths_seconds for head in heads))
    return Baseline(start, end, float(np.median(lengths)) if lengths else 0.0, tuple(rows))


def _order(cell: _Cell) -> tuple[str | int, ...]:
    role, *labels = cell
    return (role.job_id, role.comm_name, role.members, *labels, role.nranks, role.nnodes)


def _rows(
    measurements: Measurements, people: People, cell: _Cell, names: Sequence[CellName], min_ticks: int
) -> Iterator[tuple[int, list[BaselineRow]]]:
    """Some ranks at a time; with how many are done."""
    parts: list[_Part] = [
        (name, number, part, people.ranks(name.comm, number, part.ranks))
        for name in names
        for number, part in measurements.parts(name)
    ]
    ranks = np.unique(np.concatenate([over_all for *_, over_all in parts]))
    ranks = ranks[ranks >= 0]
    ends = np.cumsum([head.windows for head in measurements.heads])
    at_once = max(1, _MOST_VALUES // int(ends[-1]))
    # A role may have had several communicators: who was last in it is said.
    latest = {
        rank: name.comm
        for name, *_, over_all in sorted(parts, key=lambda part: people.met(part[0].comm))
        for rank in over_all.tolist()
    }
    for first in range(0, len(ranks), at_once):
        some = ranks[first : first + at_once]
        values, operations = _gather(measurements, parts, some, ends)
        ticks = np.count_nonzero(np.isfinite(values[:, 0]), axis=1)
        enough = ticks >= min_ticks
        described = _described(people, cell, latest, some[enough], ticks[enough], operations[enough], values[enough])
        yield first + len(some), list(described) if enough.any() else []


def _gather(
    measurements: Measurements, parts: Sequence[_Part], ranks: Codes, ends: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float32], Floats]:
    """All windows of some ranks, shape (n, 3, windows), and their operations, shape (n,)."""
    values = np.full((len(ranks), 3, int(ends[-1])), np.nan, dtype=np.float32)
    operations = np.zeros(len(ranks))
    for name, number, part, over_all in parts:
        mine = np.flatnonzero(np.isin(over_all, ranks))
        if not len(mine):
            continue
        low, high = int(mine[0]), int(mine[-1]) + 1
        found = measurements.values(name, number, slice(low, high))[mine - low]
        rows = np.searchsorted(ranks, over_all[mine])
        operations[rows] += part.operations[mine]
        windows = slice(int(ends[number]) - found.shape[2], int(ends[number]))
        known = values[rows, :, windows]
        # What one communicator of the role has told is not told again by another of the same time.
        values[rows, :, windows] = np.where(np.isnan(known), found, known)
    return values, operations


def _described(
    people: People,
    cell: _Cell,
    latest: dict[int, str],
    ranks: Codes,
    ticks: npt.NDArray[np.int64],
    operations: Floats,
    values: npt.NDArray[np.float32],
) -> Iterator[BaselineRow]:
    lateness, wait, duration = (values[:, place].astype(np.float64) for place in range(3))
    late, waiting = statistics_of(lateness, steps_of(lateness)), statistics_of(wait, steps_of(wait))
    columns = (
        ticks,
        operations,
        medians_of(duration),
        late.median,
        late.spread,
        waiting.median,
        waiting.spread,
        late.autocorrelation,
        waiting.autocorrelation,
    )
    role, op, size, algo, proto = cell
    for rank, *numbers in zip(ranks.tolist(), *(column.tolist() for column in columns), strict=True):
        member = people.member(latest[rank], rank)
        yield BaselineRow(
            role.job_id,
            role.comm_name,
            role.nranks,
            role.nnodes,
            role.members,
            rank,
            member.global_rank,
            member.node,
            member.gpu,
            op,
            size,
            algo,
            proto,
            *numbers,
        )
