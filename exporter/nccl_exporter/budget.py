"""At most so many series for one process: past that, the rarest are folded into `other`.

A series that was folded stays so, and one that is published keeps its name unless what is kept longer needs its room;
then nothing jumps either (grouping.Grouping). What says how a rank is doing as a whole is never folded.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from nccl_exporter import catalogue
from nccl_exporter.communicator import Tenant
from nccl_exporter.grouping import Fold
from nccl_exporter.identity import OTHER
from nccl_exporter.model import Key

# Of one process: a rank in a job with four communicators.
SERIES_PER_RANK: Final = 350


@dataclass(frozen=True, slots=True)
class _Step:
    """One way to save series: the grouping (of communicator.Tenant), what each of its keys becomes."""

    grouping: str
    fold: Fold


# In this order; within a step those first that were never published, and the rarest of them.
_LADDER: Final = (
    _Step("channels", lambda key: (OTHER, key[1])),
    _Step("peers", lambda key: (key[0], OTHER, OTHER)),
    _Step("links", lambda key: (OTHER, key[1])),
    _Step("cells", lambda key: (key[0], OTHER, *key[2:])),
    # Only for more operations, algorithms and protocols than jobs are known to use.
    _Step("cells", lambda key: (key[0], OTHER, OTHER, OTHER)),
    _Step("durations", lambda key: (OTHER,) * len(key)),
)


class Budget:
    """Keeps one process within `series`; `folded` counts the series that were folded, each once."""

    def __init__(self, series: int = SERIES_PER_RANK) -> None:
        self._series = series
        self.folded = 0

    def keep(self, tenants: Sequence[Tenant]) -> None:
        """Fold what is too much."""
        excess = sum(map(_series, tenants)) - self._series
        for step in _LADDER:
            if excess <= 0:
                return
            excess = self._fold(step, tenants, excess)

    def _fold(self, step: _Step, tenants: Sequence[Tenant], excess: int) -> int:
        size = catalogue.SERIES_BY_TABLE[step.grouping]
        found: list[tuple[bool, float, int, Key, Key]] = []
        left: Counter[tuple[int, Key]] = Counter()
        for number, tenant in enumerate(tenants):
            for candidate in tenant.groupings[step.grouping].foldable(step.fold):
                is_published, operations, key, target = candidate
                found.append((is_published, operations, number, key, target))
                left[number, target] += 1
        for _, _, number, key, target in sorted(found):
            if excess <= 0:
                break
            grouping = tenants[number].groupings[step.grouping]
            if target not in grouping:
                if left[number, target] < 2:  # it would only be given another name
                    continue
                excess += size
            left[number, target] -= 1
            grouping.fold(key, target)
            self.folded += size
            excess -= size
        return excess


def _series(tenant: Tenant) -> int:
    return (
        catalogue.RANK_SERIES
        + tenant.started_series
        + tenant.collectives
        + sum(len(grouping) * catalogue.SERIES_BY_TABLE[name] for name, grouping in tenant.groupings.items())
    )
