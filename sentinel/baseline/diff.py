"""What two baselines say differently: rows gone, rows new, and values changed beyond what noise explains."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
from scipy import special

from sentinel.baseline.baseline import Baseline, BaselineRow
from sentinel.measure.membership import Role

__all__ = ["FALSE_DISCOVERIES", "BaselineDiff", "CellShift", "Change", "diff_baselines"]

Floats = npt.NDArray[np.float64]

FALSE_DISCOVERIES = 0.01  # the share of reported changes that may be noise; of equal baselines the chance of any
_KEPT_WINDOWS = 256  # of a long history, at least as many are kept to take its median from
_SHIFT_RATIO = 0.1  # durations have no learnt spread: what all ranks share is told from here on


@dataclass(frozen=True)
class Change:
    """A row that both have, and a value of it that changed. `name` is the field; values are in seconds.

    `deviations`: the change in standard errors of a difference of two medians,

        (b − a) / sqrt(e_a² + e_b² + (floor × duration)²),   e = spread × sqrt(pi / 2 × (1 + rho) / (1 − rho) / n)

    with n windows, their autocorrelation rho, and a floor for what moves between any two builds. A median of normal
    values scatters by sqrt(pi / 2) times as much as their mean, and that of an AR(1) series as (1 + rho) / (1 − rho)
    says.
    """

    a: BaselineRow
    b: BaselineRow
    name: str
    deviations: float

    @property
    def before_seconds(self) -> float:
        """The value in the first baseline."""
        return float(getattr(self.a, self.name))

    @property
    def after_seconds(self) -> float:
        """The value in the second."""
        return float(getattr(self.b, self.name))

    @property
    def moved(self) -> bool:
        """Whether the rank is on another GPU now."""
        return (self.a.node, self.a.gpu) != (self.b.node, self.b.gpu)


@dataclass(frozen=True)
class CellShift:
    """A cell in which the median rank's duration changed: `ratio` is the second over the first, minus 1."""

    role: Role
    op: str
    size: str
    algo: str
    proto: str
    ranks: int
    ratio: float


@dataclass(frozen=True)
class BaselineDiff:
    """`changed` has the largest deviations first, `shifts` the largest ratios. `compared` counts the common rows.

    A shift is told, and is no difference: nothing is learnt that says how much durations normally move together.
    """

    gone: tuple[BaselineRow, ...]
    new: tuple[BaselineRow, ...]
    changed: tuple[Change, ...]
    shifts: tuple[CellShift, ...]
    compared: int

    @property
    def differs(self) -> bool:
        """Whether there is anything beyond noise."""
        return bool(self.gone or self.new or self.changed)


def diff_baselines(a: Baseline, b: Baseline, noise_floor_ratio: float) -> BaselineDiff:
    """Compare row by row, over every value that has a learnt spread (`x_seconds` with `x_spread_seconds`).

    A change counts where its p-value (Student's t, the fewer windows less one as degrees of freedom) passes Benjamini
    and Hochberg (1995) over all values compared, at `FALSE_DISCOVERIES`.
    """
    pairs = [(row, b.by_key[key]) for key, row in a.by_key.items() if key in b.by_key]
    names = _values()
    tested = [Change(*pair, name, _deviations(*pair, name, noise_floor_ratio)) for pair in pairs for name in names]
    changed = _beyond_noise(tested)
    return BaselineDiff(
        gone=tuple(row for key, row in a.by_key.items() if key not in b.by_key),
        new=tuple(row for key, row in b.by_key.items() if key not in a.by_key),
        changed=tuple(sorted(changed, key=lambda change: -abs(change.deviations))),
        shifts=tuple(sorted(_shifts(pairs), key=lambda shift: -abs(np.log1p(shift.ratio)))),
        compared=len(pairs),
    )


def _values() -> list[str]:
    names = {field.name for field in fields(BaselineRow)}
    return sorted(
        f"{name.removesuffix('_spread_seconds')}_seconds" for name in names if name.endswith("_spread_seconds")
    )


def _deviations(a: BaselineRow, b: BaselineRow, name: str, noise_floor_ratio: float) -> float:
    change = getattr(b, name) - getattr(a, name)
    floor = noise_floor_ratio * max(a.duration_seconds, b.duration_seconds)
    error = math.hypot(_error(a, name), _error(b, name), floor)
    return float(change / error) if error > 0 else 0.0 if change == 0 else math.copysign(math.inf, change)


def _error(row: BaselineRow, name: str) -> float:
    """The standard error of a row's median."""
    spread = getattr(row, f"{name.removesuffix('_seconds')}_spread_seconds")
    rho = row.wait_autocorrelation if name == "wait_seconds" else row.autocorrelation
    correlated = (1 + rho) / (1 - rho)
    windows = min(row.ticks, _KEPT_WINDOWS)
    return float(spread * math.sqrt(math.pi / 2 * correlated / windows))


def _beyond_noise(tested: Sequence[Change]) -> list[Change]:
    if not tested:
        return []
    from scipy import stats  # takes half a second: not for every command

    deviations = np.array([abs(change.deviations) for change in tested])
    freedom = np.array([max(1, min(change.a.ticks, change.b.ticks) - 1) for change in tested])
    p_values = 2.0 * special.stdtr(freedom, -deviations)
    adjusted = stats.false_discovery_control(p_values, method="bh")
    return [change for change, p_value in zip(tested, adjusted, strict=True) if p_value <= FALSE_DISCOVERIES]


def _shifts(pairs: Sequence[tuple[BaselineRow, BaselineRow]]) -> Iterator[CellShift]:
    cells: dict[tuple[Role, str, str, str, str], list[float]] = {}
    for a, b in pairs:
        role, _, op, size, algo, proto = a.key
        if a.duration_seconds > 0:
            cells.setdefault((role, op, size, algo, proto), []).append(b.duration_seconds / a.duration_seconds)
    for cell, ratios in cells.items():
        ratio = float(np.median(ratios)) - 1.0
        if abs(np.log1p(ratio)) >= np.log1p(_SHIFT_RATIO):
            yield CellShift(*cell, ranks=len(ratios), ratio=ratio)
