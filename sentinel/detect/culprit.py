"""Whom a verdict names, from members of a communicator."""

from collections.abc import Sequence

from sentinel.measure.membership import Communicator, Member
from sentinel.model.incident import Culprit, Verdict

__all__ = ["culprit_of"]


def culprit_of(verdict: Verdict, communicator: Communicator, members: Sequence[Member] = ()) -> Culprit:
    """The members, in the order of their global ranks; without any, the communicator itself."""
    return Culprit(
        verdict=verdict,
        job=communicator.job,
        job_id=communicator.role.job_id,
        comm=communicator.id,
        comm_name=communicator.role.comm_name,
        ranks=tuple(member.global_rank for member in members),
        node=",".join(sorted({member.node for member in members})),
        gpu=",".join(dict.fromkeys(member.gpu for member in members)),
    )
