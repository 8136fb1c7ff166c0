"""The last instant that was looked at, as far as a page tells it."""

from collections.abc import Mapping
from dataclasses import dataclass

from sentinel.measure.membership import Membership
from sentinel.model.incident import Incident
from sentinel.model.snapshot import DataQuality

__all__ = ["CommunicatorMoment", "Moment"]


@dataclass(frozen=True)
class CommunicatorMoment:
    """`ranks` were seen, of `nranks` (0 where NCCL does not say)."""

    comm: str
    comm_name: str
    job: str
    job_id: str
    nranks: int
    ranks: int
    state: str


@dataclass(frozen=True)
class Moment:
    """`time`: Unix seconds. `judged` is False where nothing could be said about anybody."""

    time: float
    judged: bool
    communicators: tuple[CommunicatorMoment, ...]
    quality: DataQuality
    incidents: tuple[Incident, ...]

    @classmethod
    def of(
        cls,
        time: float,
        judged: bool,
        membership: Membership,
        states: Mapping[str, str],
        quality: DataQuality,
        incidents: tuple[Incident, ...],
    ) -> "Moment":
        """From what a tick knows."""
        found = [
            CommunicatorMoment(
                each.id,
                each.role.comm_name,
                each.job,
                each.role.job_id,
                each.role.nranks,
                len(each.members),
                states.get(each.id, "unknown"),
            )
            for each in membership.communicators.values()
        ]
        found.sort(key=lambda each: (each.job_id, each.job, -each.ranks, each.comm_name, each.comm))
        return cls(time, judged, tuple(found), quality, incidents)
