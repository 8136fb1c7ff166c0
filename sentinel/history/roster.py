"""Who is in a communicator, as text that outlives it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from sentinel.measure.membership import Communicator
from sentinel.model.place_rank import known_ranks

__all__ = ["Name", "Place", "Roster", "read_roster"]


@dataclass(frozen=True, slots=True)
class Place:
    """One rank: who it is in the job, and where."""

    global_rank: int
    node: str
    gpu: str

    @property
    def told_rank(self) -> int | None:
        """Who it is in the job; None where nobody tells ranks, and the number stands for its place."""
        return next(iter(known_ranks((self.global_rank,))), None)


class Name(NamedTuple):
    """A communicator without who is in it. `nranks` is 0 where NCCL does not say."""

    comm: str
    comm_name: str
    job_id: str
    nranks: int


@dataclass(frozen=True)
class Roster:
    """A communicator with everybody who was seen in it, by rank."""

    comm: str
    comm_name: str
    job: str
    job_id: str
    nranks: int
    places: Mapping[int, Place]

    @classmethod
    def of(cls, communicator: Communicator, before: "Roster | None" = None) -> "Roster":
        """As it is now; ranks that are gone stay as they were, unless they are more than there can be."""
        places = {
            rank: Place(member.global_rank, member.node, member.gpu) for rank, member in communicator.members.items()
        }
        role = communicator.role
        earlier = before.places if before is not None and len(before.places) <= 2 * len(places) + 16 else {}
        return cls(
            communicator.id,
            role.comm_name,
            communicator.job,
            role.job_id,
            role.nranks,
            {**earlier, **places},
        )

    @property
    def name(self) -> Name:
        """Without who is in it."""
        return Name(self.comm, self.comm_name, self.job_id, self.nranks)

    def document(self) -> dict[str, Any]:
        """As JSON values, for `read`."""
        places = [[rank, each.global_rank, each.node, each.gpu] for rank, each in self.places.items()]
        return {
            "comm": self.comm,
            "comm_name": self.comm_name,
            "job": self.job,
            "job_id": self.job_id,
            "nranks": self.nranks,
            "places": places,
        }

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "Roster":
        """From `document`. KeyError, TypeError or ValueError where it is none."""
        places = {int(rank): Place(int(known), str(node), str(gpu)) for rank, known, node, gpu in document["places"]}
        comm, comm_name, job, job_id = (str(document[name]) for name in ("comm", "comm_name", "job", "job_id"))
        return cls(comm, comm_name, job, job_id, int(document["nranks"]), places)


def read_roster(document: bytes) -> Roster | None:
    """From the JSON text of `Roster.document`; None where it is none."""
    try:
        return Roster.read(orjson.loads(document))
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return None
