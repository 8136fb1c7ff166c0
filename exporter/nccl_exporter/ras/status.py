# SPDX-License-Identifier: Apache-2.0
"""What RAS says about one rank of a communicator."""

from dataclasses import dataclass
from typing import Final

STATUSES: Final = ("missing", "async_error", "abort", "behind")


@dataclass(frozen=True, slots=True)
class RasStatus:
    """One series of `nccl_ras_rank_status`: `comm_id` and `rank` are the profiler's, `status` is one of STATUSES."""

    comm_id: int
    rank: int
    status: str
    value: bool
