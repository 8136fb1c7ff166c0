"""Effect floors of late ranks, which jobs may have of their own."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentinel.detect.job_thresholds import JobThresholds
from sentinel.detect.pool import Pairs
from sentinel.measure.membership import Membership

__all__ = ["LateFloors"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LateFloors:
    """By pair, shape (r,): least cost, as a share of the job's time, and least lateness, seconds per operation."""

    cost_ratio: Floats
    lateness_seconds: Floats

    @classmethod
    def of(cls, pairs: Pairs, membership: Membership, thresholds: JobThresholds) -> "LateFloors":
        """Those of each pair's job."""
        return cls(
            thresholds.of(pairs.comm, membership, lambda settings: settings.late_rank.min_cost_ratio),
            thresholds.of(pairs.comm, membership, lambda settings: settings.late_rank.min_lateness.total_seconds()),
        )
