# SPDX-License-Identifier: Apache-2.0
"""From RAS's view of a communicator to what is published about its ranks."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from nccl_exporter.ras.answer import RasCommunicator, RasRank
from nccl_exporter.ras.status import RasStatus

Counts = Mapping[int, Mapping[str, int]]

# Ranks of other nodes with something to say, for each communicator and status.
FOREIGN_RANKS: Final = 16


def counts(communicator: RasCommunicator) -> Counts:
    """What each rank that answered has launched, by operation."""
    return {rank.rank: rank.counts for rank in communicator.ranks.values() if not rank.missing}


def behind(communicator: RasCommunicator, before: Counts | None) -> frozenset[int]:
    """Ranks that have launched less than another one of some collective, and nothing since the answer before.

    RAS asks one process after the other, so in a job that runs some are always a little behind; those have moved. Where
    no answer came before nobody can tell, and nobody is behind.
    """
    if before is None:
        return frozenset()
    most: dict[str, int] = {}
    now = counts(communicator)
    for launched in now.values():
        for name, count in launched.items():
            most[name] = max(count, most.get(name, 0))
    return frozenset(
        rank
        for rank, launched in now.items()
        if before.get(rank) == launched and any(count < most[name] for name, count in launched.items())
    )


def publish(
    comm_id: int, communicator: RasCommunicator, behind: Collection[int], local: Collection[int]
) -> tuple[list[RasStatus], int]:
    """All that is known of ranks in `local`, and what is wrong with others; how many of these there was no room for."""
    statuses: list[RasStatus] = []
    foreign: dict[str, int] = {}
    for rank in communicator.ranks.values():
        for status, value in _statuses(rank, behind):
            if rank.rank not in local:
                if not value:
                    continue
                foreign[status] = foreign.get(status, 0) + 1
                if foreign[status] > FOREIGN_RANKS:
                    continue
            statuses.append(RasStatus(comm_id, rank.rank, status, value))
    return statuses, _excess(foreign.values())


def _excess(numbers: Iterable[int]) -> int:
    return sum(max(0, number - FOREIGN_RANKS) for number in numbers)


def _statuses(rank: RasRank, behind: Collection[int]) -> Iterator[tuple[str, bool]]:
    yield "missing", rank.missing
    if not rank.missing:  # of a missing one nothing else is known
        yield "async_error", rank.async_error
        yield "abort", rank.abort
        yield "behind", rank.rank in behind
