# SPDX-License-Identifier: Apache-2.0
"""Communicators as the data path gives them, and a service that answers."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, get_type_hints

import pytest
from nccl_exporter.layout import OperationKind
from nccl_exporter.model import Communicator, Operation, Process, Series
from nccl_exporter.ras.answer import RasCommunicator, RasRank
from servers.ras_service import RasService, ras_service

Record = TypeVar("Record")
Pair = tuple[Process, Communicator]
# pid of each rank in the recorded job.
PIDS = (993, 989, 992, 991, 990, 996, 994, 995)


BLANK: dict[object, object] = {int: 0, float: 0.0, bool: False, str: "", Series: Series((), (), ())}


def blank(record: type[Record], /, **given: object) -> Record:
    """One of the data path's records, of which RAS needs a few fields only: the others are empty."""
    fields = {name: BLANK.get(hint, ()) for name, hint in get_type_hints(record).items()}
    return record(**fields | given)


@pytest.fixture
def pair() -> Callable[..., Pair]:
    """One process's place in one communicator; collectives and Sends by what was started."""

    def make(
        comm: int, rank: int, nranks: int, pid: int, started: Mapping[str, int] | None = None, sends: int = 0
    ) -> Pair:
        rows = [
            blank(Operation, name=name, kind=OperationKind.COLLECTIVE, started=count)
            for name, count in (started or {}).items()
        ]
        if sends:
            rows.append(blank(Operation, name="Send", kind=OperationKind.POINT_TO_POINT, started=sends))
        communicator = blank(Communicator, id=comm, rank=rank, nranks=nranks, operations=tuple(rows))
        return blank(Process, pid=pid), communicator

    return make


@pytest.fixture
def ras_rank() -> Callable[..., RasRank]:
    def make(rank: int, pid: int = 100, host: str = "192.0.2.1", **changes: Any) -> RasRank:
        given = {"missing": False, "async_error": False, "abort": False, "counts": {}} | changes
        return RasRank(rank, host, pid, **given)

    return make


@pytest.fixture
def ras_communicator() -> Callable[..., RasCommunicator]:
    def make(identity: str, *ranks: RasRank, size: int = 0) -> RasCommunicator:
        return RasCommunicator((identity, ""), size or len(ranks), {rank.rank: rank for rank in ranks})

    return make


@pytest.fixture
def recorded_job(pair: Callable[..., Pair]) -> list[Pair]:
    """What the exporter of the recorded job's node sees: the world (0xA) and its halves (0xB, 0xC)."""
    found = []
    for rank, pid in enumerate(PIDS):
        launched = 30 if rank == 2 else 31
        world = dict.fromkeys(("AllGather", "ReduceScatter", "AllReduce"), launched)
        half = {"AllReduce": launched}
        found.append(pair(0xA, rank, 8, pid, world))
        found.append(pair(0xB if rank < 4 else 0xC, rank % 4, 4, pid, half))
    return found


@pytest.fixture
def service() -> Iterator[RasService]:
    with ras_service() as playing:
        yield playing
