"""Windows of cells: what each communicator measured between two instants, pooled by role."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.measure.groups import Groups, group_rows
from sentinel.measure.peers import group_median
from sentinel.model.vocabulary import Codes

__all__ = ["CellGains", "PooledWindow", "pool_by_role"]

Floats = npt.NDArray[np.float64]

_LEAST_SHARE = 0.5  # of a cell's usual operations: a rank with fewer has measured other ones


@dataclass(frozen=True)
class CellGains:
    """Operations of one window, one row per (comm, rank, op, size, algo, proto). Shape (n,).

    `nranks` is the size of the row's communicator, `scale` how many operations each measured one stands for.
    """

    role: npt.NDArray[np.int64]
    comm: Codes
    op: Codes
    size: Codes
    algo: Codes
    proto: Codes
    nranks: Codes
    operations: Floats
    seconds: Floats
    log_microseconds: Floats
    scale: Floats


@dataclass(frozen=True)
class PooledWindow:
    """One row per (role, op, size, algo, proto), over its communicators, weighted by operations. Shape (m,).

    Logarithms are of seconds; `scatter` is the standard deviation of a rank's log durations; `spent_seconds` what the
    median rank of the mean communicator was inside.
    """

    role: npt.NDArray[np.int64]
    op: Codes
    size: Codes
    algo: Codes
    proto: Codes
    operations: Floats
    log_shortest: Floats
    log_median: Floats
    scatter: Floats
    spent_seconds: Floats


def pool_by_role(gains: CellGains) -> PooledWindow:
    """Cells of which at least half of the ranks are known; the others' last to arrive may be one who is not."""
    names = ("comm", "op", "size", "algo", "proto")
    cell = _cells(gains, names)
    usual = group_median(gains.operations, cell)[cell.of]
    gains = _rows(gains, gains.operations >= _LEAST_SHARE * usual)
    cell = _cells(gains, names)
    ranks = gains.nranks[cell.first]
    gains = _rows(gains, ((cell.size >= np.minimum(2, ranks)) & (2 * cell.size >= ranks))[cell.of])
    cell = _cells(gains, names)
    log_mean = gains.log_microseconds / gains.operations + np.log(1e-6)
    arithmetic = np.log(np.maximum(gains.seconds / gains.operations, 1e-12))
    shortest = np.empty(len(cell))
    for numbers, rows in cell.blocks:
        shortest[numbers] = log_mean[rows].min(axis=1)
    operations = group_median(gains.operations, cell)
    median = group_median(log_mean, cell)
    # As of a log-normal distribution: ln(arithmetic / geometric mean) is half the variance of the logarithms.
    scatter = group_median(np.sqrt(2.0 * np.maximum(0.0, arithmetic - log_mean)), cell)
    spent = group_median(gains.seconds * gains.scale, cell)
    first = cell.first
    columns = (gains.role[first], gains.op[first], gains.size[first], gains.algo[first], gains.proto[first])
    row = Groups.of_rows(group_rows(*columns)[0])
    total: Floats = np.bincount(row.of, operations, len(row)).astype(np.float64)

    def pooled(values: Floats) -> Floats:
        return np.asarray(np.bincount(row.of, operations * values, len(row)) / total)

    place = first[row.first]
    return PooledWindow(
        role=gains.role[place],
        op=gains.op[place],
        size=gains.size[place],
        algo=gains.algo[place],
        proto=gains.proto[place],
        operations=total,
        log_shortest=pooled(shortest),
        log_median=pooled(median),
        scatter=pooled(scatter),
        spent_seconds=np.bincount(row.of, spent, len(row)) / row.size,
    )


def _cells(gains: CellGains, names: tuple[str, ...]) -> Groups:
    return Groups.of_rows(group_rows(*(getattr(gains, name) for name in names))[0])


def _rows(gains: CellGains, kept: npt.NDArray[np.bool_]) -> CellGains:
    return CellGains(**{name: getattr(gains, name)[kept] for name in gains.__dataclass_fields__})
